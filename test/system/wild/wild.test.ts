/**
 * Answers that people have met at cart APIs, hosting software, gateways and firewalls in the wild: each is given once to
 * the call that it is about. Then the first thing that the saga does is looked at: whether a person is asked, and how;
 * and once somebody has answered by the control panel, its outcome is held against the ledger.
 */
import type { EndpointName } from '../../../sandbox/endpoints';
import type { FaultSpec } from '../../../sandbox/faults';
import type { Call, OrderPlaced } from '../../../sandbox/ledger';
import { callsTo, ordersWithLabel } from '../../../sandbox/sentences';
import type { WaitKind } from '../../../src/domain/progress';
import type { WorkflowName } from '../../../src/domain/identity';
import type { SagaOutcome } from '../../../src/domain/outcomes';
import { brokenPromises, type Asked } from '../../support/promises';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { untilWaitingOrEnded, type Ended } from '../../support/sagas';
import { WaitingRoom } from '../../support/waiting-room';
import { operate } from '../sweep/operate';
import { threadOf } from '../sweep/stories';

jest.setTimeout(600_000);

interface Case {
  name: string;
  asked: () => Asked;
  /** Struck until somebody is asked. */
  faults: Omit<FaultSpec, 'match'>[];
  /** The first wait; nobody is asked by default. */
  asks?: WaitKind;
  /** What its question says. */
  says?: RegExp;
  /** What it offers. */
  offers?: string;
  /** What the provider does while somebody is asked. */
  meanwhile?: (rig: Rig, asked: Asked) => void;
  ends: SagaOutcome;
  /** Kinds of leftovers. */
  tells?: string[];
}

type Changes = NonNullable<Parameters<typeof provisionRequest>[0]>;

const order = (changes: Changes = {}) =>
  ({ workflow: 'provisionServers', request: provisionRequest(changes) }) as const satisfies Asked;
const change = () => ({ workflow: 'changeOrder', request: changeRequest() }) as const satisfies Asked;
const planSwitch = () => ({ workflow: 'switchPlan', request: switchRequest() }) as const satisfies Asked;
const firewalls = () => ({ workflow: 'setFirewalls', request: firewallsRequest() }) as const satisfies Asked;

const pivots = { 'place-order': order, 'place-change-order': change, 'switch-plan': planSwitch } as const;
const pivotNames = Object.keys(pivots) as (keyof typeof pivots)[];

/** Bodies of a 200 that say no, wherever in them, in whichever way. */
const noes: unknown[] = [
  { success: false, error: 'Insufficient account balance' },
  { success: 'false' },
  { Success: 'No', Message: 'Plan is sold out' },
  { success: 0, msg: 'x' },
  { result: 'error', message: 'Payment method declined' },
  { result: 'ERROR' },
  { result: 'fail' },
  { result: false },
  { status: 'error', message: 'x' },
  { status: 'failed' },
  { status: false },
  { status: 0, statusmsg: 'x' },
  { status: 422, title: 'x' },
  { state: 'rejected' },
  { ok: false },
  { code: 400 },
  { code: '400' },
  { code: 0, message: 'x' },
  { code: -1 },
  { code: 1001, message: 'x' },
  { errorCode: 5 },
  { error: 'x' },
  { error: { code: 'insufficient_funds', message: 'x' } },
  { error: true },
  { errors: ['x'] },
  { errors: { plan_id: ['is sold out'] } },
  { data: null, errors: [{ message: 'x' }] },
  { data: { code: '400', message: 'Order could not be created' } },
  { data: { code: 0, message: 'x' } },
  { data: { success: false } },
  { data: { error: 'x' } },
  { data: [{ success: false }] },
  { data: false },
  { '0': null, data: { message: 'no', code: 0 } },
  { response: { status: 'declined' } },
  { result: { success: false } },
  { meta: { status: 402 } },
  { metadata: { result: 0, reason: 'x' } },
  { order: { status: 'rejected' } },
  { order: { status: 'failed' } },
  { code: 'INSUFFICIENT_FUNDS', message: 'x' },
  { fault: { faultstring: 'x' } },
  { exception: 'x' },
  [{ success: false }],
  false,
  'error',
];

/** A refused pivot is told by these alone, each before anything was done. */
const plainRefusals = [400, 402, 404, 405, 406, 411, 412, 413, 414, 415, 417, 422, 428, 431];
/** Anything else may follow what took effect. */
const noVerdicts = [
  408, 409, 410, 418, 420, 421, 423, 424, 425, 426, 444, 449, 451, 460, 499, 500, 502, 503, 504, 520, 524,
];

const newServer = [400, 404, 409, 422, 423, 425];

/** Fields beside a list that is the first page of more. */
const pages: object[] = [
  { meta: { pagination: { page: 1, per_page: 1, next_page: 2, total_entries: 3 } } },
  { meta: { total: 3 } },
  { meta: { current_page: 1, last_page: 3 } },
  { meta: { page: { current: 1, size: 1, totalPages: 3 } } },
  { links: { next: '?page=2' } },
  { links: { pages: { next: 'https://api/firewalls?page=2', last: 'https://api/firewalls?page=3' } } },
  { _links: { next: { href: '?page=2' } } },
  { next: '?page=2' },
  { '@odata.nextLink': '?page=2' },
  { nextPageToken: 'abc' },
  { next_cursor: 'abc' },
  { paging: { cursors: { after: 'abc' }, next: '?after=abc' } },
  { cursor: { next: 'abc' } },
  { pagination: { more: true } },
  { has_more: true },
  { hasMore: 'true' },
  { total: 3, per_page: 1 },
  { total: '3' },
  { total_count: 3 },
  { count: 3, next: null },
  { totalItems: 3 },
  { recordsTotal: 3, recordsFiltered: 3 },
  { page: 1, pages: 3 },
  { limit: 1, offset: 0, total: 3 },
  { truncated: true },
];

const cases: Case[] = [
  ...noes.flatMap((body, index): Case[] => {
    const endpoint = pivotNames[index % pivotNames.length]!;
    const asks = { asked: pivots[endpoint], asks: 'outcome-unknown', says: /answered 200/ } as const;
    const name = `${endpoint} says no: ${JSON.stringify(body)}`;
    return [
      { name, faults: [{ endpoint, kind: 'says-no-before', body }], ...asks, ends: 'done' },
      { name: `${name}, and has done it`, faults: [{ endpoint, kind: 'says-no-after', body }], ...asks, ends: 'done' },
    ];
  }),
  ...noVerdicts.map((status, index): Case => {
    const endpoint = pivotNames[index % pivotNames.length]!;
    return {
      name: `${endpoint} is answered ${status}, and was done`,
      asked: pivots[endpoint],
      faults: [{ endpoint, kind: status < 500 ? 'refuse-after' : 'error-after', status }],
      asks: 'outcome-unknown',
      ends: 'done',
    };
  }),
  ...plainRefusals.map((status, index): Case => {
    const endpoint = pivotNames[index % pivotNames.length]!;
    const faults = [{ endpoint, kind: 'refuse-before', status } as const];
    return { name: `${endpoint} is refused with ${status}`, asked: pivots[endpoint], faults, ends: 'reversed' };
  }),
  ...newServer.flatMap((status) =>
    (['assign-firewalls', 'list-firewalls'] as const).map((endpoint): Case => {
      const faults = [{ endpoint, kind: 'refuse-before', status, times: 3 } as const];
      const name = `a new server is not ready: ${status} to ${endpoint}`;
      return { name, asked: () => order({ firewalls: [143] }), faults, ends: 'done' };
    }),
  ),
  ...(['list-firewalls', 'assign-firewalls'] as const).map((endpoint): Case => {
    const faults = [{ endpoint, kind: 'refuse-before', status: 423, times: 3 } as const];
    return { name: `a server is maintained: 423 to ${endpoint}`, asked: firewalls, faults, ends: 'done' };
  }),
  ...[409, 423, 425].map((status): Case => ({
    name: `the cart is locked: ${status}`,
    asked: () => order({ items: [{}, {}, {}, {}] }),
    faults: [{ endpoint: 'add-cart-item', kind: 'refuse-before', status, times: 2 }],
    ends: 'done',
  })),
  ...[404, 410].map((status): Case => ({
    name: `the cart has expired: ${status} to a delete`,
    asked: order,
    faults: [
      { endpoint: 'place-order', kind: 'refuse-before' },
      { endpoint: 'delete-cart-item', kind: 'refuse-after', status },
    ],
    ends: 'reversed',
  })),
  ...pages.map((beside): Case => ({
    name: `a page of a list: ${JSON.stringify(beside)}`,
    asked: () => order({ firewalls: [143] }),
    faults: [
      { endpoint: 'list-firewalls', kind: 'other-body', body: { data: [{ id: 143 }], ...beside }, times: 'all' },
    ],
    ends: 'partly',
    tells: ['server-unverified'],
  })),
  ...[{ link: '<https://api/firewalls?page=2>; rel="next"' }, { 'x-total-count': '3' }, { 'x-next-page': '2' }].map(
    (headers): Case => ({
      name: `a page of a list, by its headers: ${JSON.stringify(headers)}`,
      asked: () => order({ firewalls: [143] }),
      faults: [{ endpoint: 'list-firewalls', kind: 'other-body', body: [{ id: 143 }], headers, times: 'all' }],
      ends: 'partly',
      tells: ['server-unverified'],
    }),
  ),
  ...['pending', 'attaching', 'queued'].map((status): Case => ({
    name: `a firewall that is ${status} is not there yet`,
    asked: () => order({ firewalls: [143] }),
    faults: [{ endpoint: 'list-firewalls', kind: 'other-body', body: [{ id: 143, status }], times: 2 }],
    ends: 'done',
  })),
  ...[{ type: 'deny' }, { status: 'ok', policy: 'reject' }, { result: 'active', description: 'error' }].map(
    (fields): Case => ({
      name: `what a firewall is, is no refusal: ${JSON.stringify(fields)}`,
      asked: () => order({ firewalls: [143] }),
      faults: [{ endpoint: 'list-firewalls', kind: 'other-body', body: [{ id: 143, ...fields }] }],
      ends: 'done',
    }),
  ),
  ...(['mark', 'gzip', 'deflate', 'continue', 'texts'] as const).flatMap((oddity): Case[] =>
    [() => order({ items: [{}, {}], firewalls: [143] }), change, planSwitch, firewalls].map((asked) => ({
      name: `every answer in the form ${oddity}: ${asked().workflow}`,
      asked,
      faults: [{ endpoint: '*', kind: 'odd', oddity, times: 'all' }],
      ends: 'done',
    })),
  ),
  ...[
    '1900000000',
    '1900000000000',
    '0',
    '-5',
    '1e9',
    'soon',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    '2030-01-01T00:00:00Z',
  ].map((retryAfter): Case => ({
    name: `a wait that is none: ${retryAfter}`,
    asked: order,
    faults: [{ endpoint: 'add-cart-item', kind: 'rate-limit', retryAfter }],
    ends: 'done',
  })),
  {
    name: 'a quota is full: 403',
    asked: order,
    faults: [{ endpoint: 'place-order', kind: 'forbidden' }],
    asks: 'stuck',
    says: /quota/,
    offers: 'reject',
    ends: 'done',
  },
  {
    name: 'an order that waits for its payment, and is cancelled by the provider',
    asked: () => order({ firewalls: [143] }),
    faults: [{ endpoint: 'place-order', kind: 'other-body', body: { order_id: 1, status: 'pending_payment' } }],
    asks: 'servers',
    offers: 'markCancelled',
    meanwhile: ({ sandbox }, { request }) => {
      const [placed] = ordersWithLabel(sandbox.ledger, request.reference);
      if (placed) sandbox.cancelOrder(placed.orderId);
    },
    ends: 'reversed',
  },
  {
    name: 'fewer ids in the answer than servers that were ordered, and no firewalls asked for',
    asked: () => order({ items: [{ quantity: 3 }] }),
    faults: [],
    ends: 'partly',
    tells: ['servers-miscounted'],
  },
];

/** Of three servers it names two. */
const short = ({ orderId, vmObjectIds }: OrderPlaced) => ({
  order_id: orderId,
  vm_object_ids: vmObjectIds.length === 3 ? vmObjectIds.slice(0, 2) : vmObjectIds,
});

let rig: Rig;
const found = new Map<string, Promise<Found>>();

interface Found {
  asks: WaitKind | undefined;
  question: string | undefined;
  choices: readonly string[];
  outcome: unknown;
  leftovers: string[];
  pivotCalls: number;
  broken: string[];
}

/** So many sagas at once. */
const atOnce = 12;

beforeAll(async () => {
  rig = await Rig.start({ sandbox: { orderResponse: short } });
  const waitingRoom = new WaitingRoom(rig.sagas);
  const turns = cases.map((one) => {
    let begin: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => (begin = resolve));
    const run = turn.then(() => told(one, waitingRoom));
    run.catch(() => undefined);
    found.set(one.name, run);
    return { begin, run };
  });
  const queue = [...turns];
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      next.begin();
      await next.run.catch(() => undefined);
    }
  };
  void Promise.all(Array.from({ length: atOnce }, work));
});

afterAll(() => rig.close());

async function told({ asked: ask, faults, meanwhile }: Case, waitingRoom: WaitingRoom): Promise<Found> {
  const { sandbox } = rig;
  const asked = ask();
  if (asked.workflow === 'setFirewalls') sandbox.addServer({ vmObjectId: asked.request.vmObjectId, firewalls: [1, 2] });
  const match = threadOf(asked);
  const ids = faults.map((fault) => sandbox.faults.add({ ...fault, match }));
  const saga = await rig.sagas.start<WorkflowName>(asked.workflow, asked.request);
  const waiting = await untilWaitingOrEnded(saga);
  const pivotCalls = (Object.keys(pivots) as EndpointName[])
    .flatMap((endpoint) => callsTo(sandbox.ledger, endpoint))
    .filter((call) => isOf(call, match)).length;
  if (waiting) for (const id of ids) sandbox.faults.lift(id);
  meanwhile?.(rig, asked);
  const operator = { choice: 0, choices: 0, attends: false, decided: () => undefined };
  const ended = await operate({ rig, waitingRoom }, saga, asked, operator);
  return {
    asks: waiting?.kind,
    question: waiting?.question,
    choices: waiting?.choices ?? [],
    ...accountOf(ended),
    pivotCalls,
    broken: brokenPromises(sandbox.ledger, asked, ended),
  };
}

function isOf({ names }: Call, match: ReturnType<typeof threadOf>): boolean {
  return Object.entries(match).every(([field, value]) =>
    names[field as keyof typeof match]?.some((one) => one === value),
  );
}

function accountOf({ result, failure, cancelled }: Ended) {
  const account = (result ?? failure?.report ?? cancelled) as { outcome: string; leftovers?: { kind: string }[] };
  return { outcome: account.outcome, leftovers: (account.leftovers ?? []).map(({ kind }) => kind) };
}

it.each(cases)('$name', async ({ name, asks, says, offers, ends, tells = [] }) => {
  const { question, choices, broken, pivotCalls, ...seen } = (await found.get(name))!;
  expect({ ...seen, broken }).toEqual({ asks, outcome: ends, leftovers: tells, broken: [] });
  if (says) expect(question).toMatch(says);
  if (offers) expect(choices).toContain(offers);
  // A pivot of unknown outcome is never sent again.
  if (asks === 'outcome-unknown') expect(pivotCalls).toBe(1);
});
