/**
 * The metrics of sagas, by their names in Prometheus, which adds `_total` to a counter's name. Dashboards and alert
 * rules use these names. A label is always one of a few words: never a reference, an account or an id.
 */
export const metrics = {
  sagas: {
    name: 'order_saga_sagas',
    help: 'Sagas that have ended, by outcome: done, partly, cancelled, or the name of their failure',
  },
  attended: {
    name: 'order_saga_attended',
    help: 'Sagas that have ended after trouble had made them wait for a person; an approval, a duplicate, a limit or a hold is none',
  },
  timeToProtected: {
    name: 'order_saga_time_to_protected_seconds',
    help: 'From the start of a saga until a server that it bought has its firewalls, waits for people included',
  },
  attempts: {
    name: 'order_saga_attempts',
    help: 'Calls of a step in a row, the first included, by how they ended: done, or failed: then a person is asked',
  },
  waits: { name: 'order_saga_waits', help: 'Times that a saga began to wait for a person, by kind' },
  waitsEnded: { name: 'order_saga_waits_ended', help: 'Times that a saga stopped waiting for a person, by kind' },
  reminders: { name: 'order_saga_reminders', help: 'Reminders of waits for a person, by kind' },
  decisions: { name: 'order_saga_decisions', help: 'Decisions of people: taken, refused or ignored, by name' },
  failedCalls: { name: 'order_saga_failed_calls', help: 'Calls that failed, by failure and by whose problem it is' },
  undos: {
    name: 'order_saga_undos',
    help: 'Steps that were to be undone, by result: undone, left behind or left alone',
  },
  leftovers: { name: 'order_saga_leftovers', help: 'Leftovers of ended sagas at the provider, by kind' },
  lateAnswers: {
    name: 'order_saga_late_answers',
    help: 'Orders that the provider accepted although a person had said that they were not placed; there should be none',
  },
  notificationsLost: {
    name: 'order_saga_notifications_lost',
    help: 'Notifications that could not be handed over before their saga ended; there should be none',
  },
  notifications: {
    name: 'order_saga_notifications',
    help: 'Attempts to notify a receiver, by route and by result: delivered, or failed',
  },
  notificationsGivenUp: {
    name: 'order_saga_notifications_given_up',
    help: 'Runs that have not notified a receiver within three days, by route: a person resets them',
  },
  notificationsLate: {
    name: 'order_saga_notifications_late',
    help: 'Runs that have tried to notify a receiver for more than ten minutes, by route; every worker reports the same',
  },
  waiting: {
    name: 'order_saga_waiting',
    help: 'Sagas that wait for a person now, by kind; every worker reports the same',
  },
  oldestWait: {
    name: 'order_saga_oldest_wait_seconds',
    help: 'Age of the oldest open wait for a person, by kind; 0: no saga waits; every worker reports the same',
  },
  hold: {
    name: 'order_saga_hold',
    help: '1 while new sagas of the namespace are held, else 0; every worker reports the same',
  },
  outageHold: {
    name: 'order_saga_outage_hold_seconds',
    help: 'How long new sagas have been held because a worker saw an outage; 0: they are not; every worker reports the same',
  },
  outages: {
    name: 'order_saga_outages',
    help: 'Outages of the provider that this worker saw, by what it did: held, held-before, left-off',
  },
  oldestHeld: {
    name: 'order_saga_oldest_held_seconds',
    help: 'Time since the oldest held saga was started; 0: no saga is held; every worker reports the same',
  },
  queued: {
    name: 'order_saga_queued',
    help: 'Sagas that wait for their turn at a server or a subscription now; every worker reports the same',
  },
  oldestQueued: {
    name: 'order_saga_oldest_queued_seconds',
    help: 'Time since the oldest queued saga was started; 0: no saga is queued; every worker reports the same',
  },
  lost: {
    name: 'order_saga_lost',
    help: 'Sagas that have begun and will not end by themselves, by how they were lost; every worker reports the same',
  },
  paused: {
    name: 'order_saga_paused',
    help: 'Sagas with a call, or the whole run, paused in Temporal; every worker reports the same',
  },
  sweeps: {
    name: 'order_saga_sweeps',
    help: 'Sweeps that have ended, by outcome: clean, partly, found, or could-not-look',
  },
  findings: { name: 'order_saga_sweep_findings', help: 'What sweeps have found, by kind' },
  sweepAge: {
    name: 'order_saga_sweep_age_seconds',
    help: 'Time since a sweep last looked at everything, or since its schedule was made; 0: there is no schedule; every worker reports the same',
  },
  sweepEndedAge: {
    name: 'order_saga_sweep_ended_age_seconds',
    help: 'The same, also of a sweep that has not looked at all servers; every worker reports the same',
  },
  openServers: {
    name: 'order_saga_open_servers',
    help: 'Servers that were ordered with firewalls and lack them, as far as is known, by whether the saga that ordered them has ended; every worker reports the same',
  },
  sweepEvery: {
    name: 'order_saga_sweep_every_seconds',
    help: 'How often the schedule starts a sweep; 0: there is no schedule; every worker reports the same',
  },
  unserved: {
    name: 'order_saga_unserved',
    help: 'Sagas pinned to a version of the workers that none polls for; every worker of the deployment reports the same',
  },
  journalReachable: {
    name: 'order_saga_journal_reachable',
    help: '1 while the journal answers this worker, else 0',
  },
  journalAnswer: {
    name: 'order_saga_journal_answer_seconds',
    help: 'How long the journal took for one small transaction of this worker, the wait for a connection included',
  },
  journalRestored: {
    name: 'order_saga_journal_restored',
    help: '1 while the journal is known to be an older copy and nobody has confirmed it; every worker reports the same',
  },
  backlog: {
    name: 'order_saga_backlog_tasks',
    help: 'Tasks that no worker has taken yet; every worker reports the same',
  },
  backlogAge: {
    name: 'order_saga_backlog_age_seconds',
    help: 'How long the oldest task has waited for a worker; every worker reports the same',
  },
  providerRequests: {
    name: 'order_saga_provider_request_seconds',
    help: 'Duration of calls to the provider, by endpoint and by class: ok, or how they failed',
  },
} as const;

/** `refused`: sent as an update, whose sender gets the reason. `ignored`: sent as a signal, and only written down. */
export type DecisionFate = 'taken' | 'refused' | 'ignored';

/** `left-off`: a person had released a hold just before. */
export const outageFates = ['held', 'held-before', 'left-off'] as const;
export type OutageFate = (typeof outageFates)[number];

/** `left-behind`: a person said so. `left-alone`: the undo could do harm. */
export type UndoFate = 'undone' | 'left-behind' | 'left-alone';
