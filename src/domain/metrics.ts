/**
 * What is counted of sagas, by its name in Prometheus, where a counter has `_total` behind it. Dashboards and alert rules know
 * these names. A label is always one of a few words: never a reference, an account or an id.
 */
export const metrics = {
  sagas: {
    name: 'order_saga_sagas',
    help: 'Sagas that have ended, by outcome: done, partly, cancelled, or how they failed',
  },
  waits: { name: 'order_saga_waits', help: 'Times that a saga began to wait for a person, by kind' },
  waitsEnded: { name: 'order_saga_waits_ended', help: 'Times that a saga stopped waiting for a person, by kind' },
  reminders: { name: 'order_saga_reminders', help: 'Reminders of waits for a person, by kind' },
  decisions: { name: 'order_saga_decisions', help: 'Decisions of people, by name and by what became of them' },
  failedCalls: { name: 'order_saga_failed_calls', help: 'Calls that failed, by failure and by whose trouble it is' },
  undos: { name: 'order_saga_undos', help: 'Steps that were to be put back, by what became of them' },
  leftovers: { name: 'order_saga_leftovers', help: 'What sagas that have ended left at the provider, by kind' },
  lateAnswers: {
    name: 'order_saga_late_answers',
    help: 'Orders that the provider took although a person had said that it had not; there should be none',
  },
  waiting: {
    name: 'order_saga_waiting',
    help: 'Sagas that wait for a person now, by kind; the same from every worker',
  },
  oldestWait: {
    name: 'order_saga_oldest_wait_seconds',
    help: 'How long the saga that has waited longest waits, by kind; 0: none waits; the same from every worker',
  },
  hold: {
    name: 'order_saga_hold',
    help: '1 while new sagas of the namespace are held, else 0; the same from every worker',
  },
  queued: {
    name: 'order_saga_queued',
    help: 'Sagas that wait for their turn at a server or a subscription now; the same from every worker',
  },
  oldestQueued: {
    name: 'order_saga_oldest_queued_seconds',
    help: 'How long ago the first of those that are queued was started; 0: none is; the same from every worker',
  },
  lost: {
    name: 'order_saga_lost',
    help: 'Sagas that have begun and will not end by themselves, by how they were lost; the same from every worker',
  },
  paused: {
    name: 'order_saga_paused',
    help: 'Sagas of which a call, or the whole run, is paused in Temporal; the same from every worker',
  },
  backlog: { name: 'order_saga_backlog_tasks', help: 'Tasks that no worker has taken yet; the same from every worker' },
  backlogAge: {
    name: 'order_saga_backlog_age_seconds',
    help: 'How long the first of them has waited for a worker; the same from every worker',
  },
  providerRequests: {
    name: 'order_saga_provider_request_seconds',
    help: 'Calls of the provider, by endpoint and by class: ok, or how they failed',
  },
} as const;

/** Of a decision: refused to whoever sent it as an update, or a signal that was written down and ignored. */
export type DecisionFate = 'taken' | 'refused' | 'ignored';

/** Of an undo: left behind because a person said so, left alone because it could do harm. */
export type UndoFate = 'undone' | 'left-behind' | 'left-alone';
