/**
 * The package `order-saga-client` (packages/client), which a backend imports. Everything that is not here is internal,
 * and may change with any release.
 */
export { OrderSagaClient, type OrderSagaClientOptions } from './client';
export * from './errors';
export { SagaHandle, type DecisionTaken } from './handle';
export type { Inbox, InboxGroup, InboxOptions, InboxRow } from './inbox';
export type { SagaFilter, SagaRow } from './saga-list';
export type { SweepRun, Sweeps, SweepSchedule } from './reconcile';
export type { Finding, ReconcileOptions, SweepReport } from '../domain/reconcile';
/** For the data converter of Temporal's `Client`, where payloads are encrypted. */
export { createDataConverter } from '../security/data-converter';
export { parsePayloadKeys, type PayloadKeys } from '../security/keys';
export type { CheckReport } from '../domain/checking';
export type { DecisionName } from '../domain/decisions';
export type { SagaFailureName } from '../domain/failures';
export type { WorkflowName } from '../domain/identity';
export type { Leftover } from '../domain/outcomes';
export type { Milestone, ProgressView, Reached } from '../domain/progress';
export type { RequestOf } from '../domain/requests';
export type { Report, ResultOf } from '../domain/results';
export type { WaitingFilter, WaitingSaga } from '../temporal/service';
