/**
 * The metrics of sagas, by their names in Prometheus, which adds `_total` to a counter's name. Dashboards and alert
 * rules use these names. A label is always one of a few words: never a reference, an account or an id.
 */
export interface Metric {
  name: string;
  help: string;
}

const metric = (name: string, help: string): Metric => ({ name, help });

/** A gauge of the namespace: take the maximum of all workers, not the sum. */
const alike = (name: string, help: string): Metric => metric(name, `${help}; every worker reports the same`);

export const metrics = {
  sagas: metric('order_saga_sagas', 'Sagas that have ended: done, partly, cancelled, or the name of their failure'),
  attended: metric(
    'order_saga_attended',
    'Sagas that have ended after trouble had made them wait for a person; an approval, a duplicate, a limit or a hold is none',
  ),
  timeToProtected: metric(
    'order_saga_time_to_protected_seconds',
    'From the start of a saga until a server that it bought has its firewalls, waits for people included',
  ),
  attempts: metric(
    'order_saga_attempts',
    'Calls of a step in a row, the first included, by how they ended: done, or failed: then a person is asked',
  ),
  waits: metric('order_saga_waits', 'Times that a saga began to wait for a person, by kind'),
  waitsEnded: metric('order_saga_waits_ended', 'Times that a saga stopped waiting for a person, by kind'),
  reminders: metric('order_saga_reminders', 'Reminders of waits for a person, by kind'),
  decisions: metric('order_saga_decisions', 'Decisions of people: taken or refused, by name'),
  failedCalls: metric('order_saga_failed_calls', 'Calls that failed, by failure and by whose problem it is'),
  undos: metric('order_saga_undos', 'Steps that were to be undone, by result: undone, left behind or left alone'),
  leftovers: metric('order_saga_leftovers', 'Leftovers of ended sagas at the provider, by kind'),
  lateAnswers: metric(
    'order_saga_late_answers',
    'Orders that the provider accepted although a person had said that they were not placed; there should be none',
  ),
  notificationsLost: metric(
    'order_saga_notifications_lost',
    'Notifications that could not be handed over before their saga ended; there should be none',
  ),
  notifications: metric('order_saga_notifications', 'Attempts to notify a receiver, by route and result'),
  notificationsGivenUp: metric(
    'order_saga_notifications_given_up',
    'Runs that have not notified a receiver within 30 days, or whose receiver is gone, by route',
  ),
  notificationsLate: alike('order_saga_notifications_late', 'Runs that try for more than ten minutes, by route'),
  waiting: alike('order_saga_waiting', 'Sagas that wait for a person now, by kind'),
  oldestWait: alike('order_saga_oldest_wait_seconds', 'Age of the oldest wait for a person, by kind; 0: none waits'),
  hold: alike('order_saga_hold', '1 while new sagas of the namespace are held, else 0'),
  oldestHeld: alike('order_saga_oldest_held_seconds', 'Time since the oldest held saga was started; 0: none is held'),
  queued: alike('order_saga_queued', 'Sagas that wait for their turn at a server or a subscription now'),
  oldestQueued: alike('order_saga_oldest_queued_seconds', 'Time since the oldest queued saga was started; 0: none is'),
  lost: alike('order_saga_lost', 'Sagas that have begun and will not end by themselves, by how they were lost'),
  paused: alike('order_saga_paused', 'Sagas with a call, or the whole run, paused in Temporal'),
  sweeps: metric('order_saga_sweeps', 'Sweeps that have ended, by outcome: clean, partly, found, or could-not-look'),
  findings: metric('order_saga_sweep_findings', 'What sweeps have found, by kind'),
  sweepAge: alike(
    'order_saga_sweep_age_seconds',
    'Time since sweeps have last ended a round of all servers, or since their schedule was made; 0: there is no schedule',
  ),
  sweepEndedAge: alike('order_saga_sweep_ended_age_seconds', 'The same, of any sweep that has come to its end'),
  openServers: alike(
    'order_saga_open_servers',
    'Servers that were ordered with firewalls and lack them, as far as is known, by whether the saga that ordered them has ended',
  ),
  sweepEvery: alike('order_saga_sweep_every_seconds', 'How often the schedule starts a sweep; 0: there is no schedule'),
  unserved: metric(
    'order_saga_unserved',
    'Sagas pinned to a version of the workers that none polls for; every worker of the deployment reports the same',
  ),
  journalReachable: metric('order_saga_journal_reachable', '1 while the journal answers this worker, else 0'),
  journalAnswer: metric('order_saga_journal_answer_seconds', 'Time of one small transaction, connecting included'),
  journalRestored: alike('order_saga_journal_restored', '1 while a restore of it is known and not confirmed'),
  backlog: alike('order_saga_backlog_tasks', 'Tasks that no worker has taken yet'),
  backlogAge: alike('order_saga_backlog_age_seconds', 'How long the oldest task has waited for a worker'),
  providerRequests: metric('order_saga_provider_request_seconds', 'Duration of calls, by endpoint and failure, or ok'),
};
