/**
 * What others read of a saga, one full example of each: nothing of it may go missing, and nothing unknown may join it.
 */
import type { z } from 'zod';
import { decisionRecordSchema, progressSchema, waitingSchema } from '../../../src/domain/progress';
import { recordedEffectSchema, recordedEndingSchema, recordSchema } from '../../../src/domain/record';
import { reportSchema, resultSchemas } from '../../../src/domain/results';

const at = '2026-01-01T12:00:00.000Z';
const step = {
  id: 'place-order',
  title: 'Place the order',
  status: 'stuck',
  attempts: 1,
  startedAt: at,
  endedAt: at,
  detail: 'd',
};
const lastFailure = {
  failure: 'UnknownOutcome',
  whose: 'provider',
  message: 'no answer',
  endpoint: 'POST /order',
  status: 503,
  body: 'busy',
};
const waiting = {
  id: '7f3a90c1',
  kind: 'outcome-unknown',
  step: 'place-order',
  question: 'Is it there?',
  choices: ['confirmPlaced'],
  since: at,
  expiresAt: at,
  lastFailure,
};
const settling = { step: 'place-order', until: at };
const queued = { resource: 'server 7', since: at, before: 1, holder: 'firewalls/R', lookedAt: at };
const leftover = { kind: 'cart-item', cartItemId: 1, why: 'w' };
const ignored = { decision: 'retry', at, why: 'nothing waits', by: 'op' };
const decision = {
  decision: 'retry',
  kind: 'stuck',
  step: 'place-order',
  at,
  by: 'op',
  note: 'n',
  reason: 'r',
  question: '7f3a90c1',
  vmObjectIds: [1],
  orderId: 'O-1',
  correction: { label: 'web-2' },
};
const quote = {
  available: true,
  total: 5,
  currency: 'usd',
  date_from: '2026-01-01',
  date_to: '2026-02-01',
  inapplicable_resources: [],
};
const told = { leftovers: [leftover], ignored: [ignored], decisions: [decision] };
const server = { vmObjectId: 9001, firewalls: [143], verified: true };

const report = {
  reference: 'R',
  workflow: 'provisionServers',
  outcome: 'partly',
  why: 'w',
  steps: [step],
  known: {},
  ...told,
};
const effect = {
  ...{ id: 'e', step: 'place-order', kind: 'pivot', activity: 'placeOrder', about: { cartItems: [1] }, run: 'r' },
  ...{ meantAt: at, answeredAt: at, outcome: 'denied', inAirUntil: at, failure: 'UnknownOutcome', answer: {} },
  ...{ undoneBy: 'f', decided: { at, by: 'op', note: 'n' }, late: { answer: {} } },
};
const ending = { run: 'r', at, workflow: 'provisionServers', outcome: 'done', ended: 'done', report, result: {} };

const examples: [string, z.ZodType, Record<string, unknown>, optional: string[]][] = [
  ['what it waits for', waitingSchema, waiting, ['expiresAt', 'lastFailure']],
  [
    'a decision that was taken',
    decisionRecordSchema,
    decision,
    ['kind', 'step', 'by', 'note', 'reason', 'question', 'vmObjectIds', 'orderId', 'correction'],
  ],
  [
    'progress',
    progressSchema,
    { reference: 'R', workflow: 'changeOrder', state: 'stuck', steps: [step], waiting, queued, settling, ...told },
    ['waiting', 'queued', 'settling'],
  ],
  [
    'a report',
    reportSchema,
    {
      reference: 'R',
      workflow: 'cleanCart',
      outcome: 'reversed',
      why: 'w',
      steps: [step],
      known: { order: null },
      ...told,
      problems: [{ field: 'reference', message: 'm' }],
    },
    ['problems'],
  ],
  [
    'a provisioning’s result',
    resultSchemas.provisionServers,
    {
      reference: 'R',
      outcome: 'partly',
      cartItemIds: [1],
      order: { order_id: 1 },
      servers: [server],
      skipped: ['s'],
      leftovers: [leftover],
      decisions: [decision],
    },
    ['order'],
  ],
  [
    'a change order’s result',
    resultSchemas.changeOrder,
    { reference: 'R', outcome: 'done', quote, placed: true, order: null, decisions: [] },
    ['quote', 'order'],
  ],
  [
    'a switch’s result',
    resultSchemas.switchPlan,
    { reference: 'R', outcome: 'done', quote, placed: true, finalQuote: quote, decisions: [] },
    ['quote', 'finalQuote'],
  ],
  [
    'a change of firewalls’ result',
    resultSchemas.setFirewalls,
    { reference: 'R', outcome: 'done', vmObjectId: 1, assigned: [1], unassigned: [2], firewalls: [1], verified: true },
    [],
  ],
  [
    'a cleaning’s result',
    resultSchemas.cleanCart,
    { reference: 'R', outcome: 'partly', deleted: [1], leftAlone: [2], leftovers: [leftover], decisions: [] },
    [],
  ],
  [
    'an effect of a record',
    recordedEffectSchema,
    effect,
    ['answeredAt', 'inAirUntil', 'failure', 'answer', 'undoneBy', 'decided', 'late'],
  ],
  ['an ending of a record', recordedEndingSchema, ending, ['ended', 'report', 'result']],
  [
    'a record',
    recordSchema,
    {
      ...{ reference: 'R', workflow: 'provisionServers', account: 'AB-1', firstSeen: { at, run: 'r' }, request: {} },
      corrections: [{ at, run: 'r', step: 'place-order', by: 'op', note: 'n', correction: { items: [1] } }],
      ...{ state: 'open', placement: 'unknown', effects: [effect], endings: [ending], decisions: [decision] },
      ...{ servers: [server], total: 5, currency: 'usd', leftovers: [leftover] },
      ...{ unreadable: [{ what: 'request', why: 'w' }], journal: { id: 'j', epoch: at, at } },
    },
    ['account', 'request', 'servers', 'total', 'currency', 'unreadable'],
  ],
];

describe.each(examples)('%s', (_, schema, example, optional) => {
  it('is taken as it is', () => {
    expect(schema.parse(example)).toEqual(example);
  });

  it('must have every field but the optional ones', () => {
    for (const field of Object.keys(example)) {
      expect([field, schema.safeParse({ ...example, [field]: undefined }).success]).toEqual([
        field,
        optional.includes(field),
      ]);
    }
  });

  it('has no other', () => {
    expect(schema.safeParse({ ...example, more: 1 }).success).toBe(false);
  });
});
