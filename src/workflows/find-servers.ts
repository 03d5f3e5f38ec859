/**
 * The object ids of the servers that an order brought: the provider's document names none in its answers, so they come from the first
 * of several places that knows them.
 */
import type { Standing } from '../activities/journal';
import type { FindServers, PlacedOrder } from '../activities/orders';
import type { Placement } from '../domain/effects';
import { countOf, fits, isExact, type ServersOrdered } from '../domain/plan-types';
import type { ProvisionServersRequest } from '../domain/requests';
import { activities } from '../saga/activities';
import { attempt } from '../saga/attempts';
import type { Confirming } from '../saga/doubt';
import type { Saga } from '../saga/saga';
import type { SecretsSent } from './secrets-sent';

/** What the steps after an order have in common. */
interface Ordering {
  ordered: ServersOrdered;
  secrets: SecretsSent;
}

/**
 * The object ids, from the first that knows them: the order's response, or the person who confirmed it; the request; the server
 * directory; a person, also where the first two differ. Without firewalls nothing more is to be done with them, and nobody is asked.
 */
export async function findServers(
  saga: Saga,
  request: ProvisionServersRequest,
  placement: Placement<PlacedOrder>,
  { ordered: expected, secrets }: Ordering,
): Promise<number[]> {
  if (expected.most === 0) return [];
  const { firewalls, account, label } = request;
  const known = knownIds(saga, request, placement, expected);
  if (known) return known;
  const named = placedIds(placement, expected);
  if (named) return firewalls?.length ? askServers(saga, expected, whoNames(request, placement, named)) : named;
  if (placement.how !== 'answered' || placement.value.directory) {
    const found = await searchDirectory(saga, { account, label, expected, ...secrets.withOthers });
    if (found) return found;
  }
  return firewalls?.length ? askServers(saga, expected) : [];
}

const findTitle = 'Learn the object ids of the new servers';

/** @returns undefined where no directory can tell, or it never listed as many as were ordered */
export async function searchDirectory(saga: Saga, wanted: Omit<FindServers, 'retry'>): Promise<number[] | undefined> {
  const step = saga.step('find-servers', findTitle);
  const settled = await attempt({ step, journal: saga.journal }, ({ retry }) =>
    activities('look into the server directory').findServers({ ...wanted, retry }),
  );
  if (!settled.ok) {
    step.end('failed', settled.failure.message);
    return undefined;
  }
  if (settled.value.length === 0) {
    step.end('skipped', 'no server directory can tell');
    return undefined;
  }
  step.end('done');
  return settled.value;
}

/** So many ids of each stand in a question. */
const idsShownMax = 20;

/** For the question, where the request names other servers than the order brought. */
function whoNames(
  { vmObjectIds = [] }: Pick<ProvisionServersRequest, 'vmObjectIds'>,
  { how }: Placement<unknown>,
  named: readonly number[],
): string {
  const list = (ids: readonly number[]) =>
    ids.slice(0, idsShownMax).join(', ') + (ids.length > idsShownMax ? ' and more' : '');
  const who = {
    answered: 'the order’s answer',
    found: 'the server directory',
    confirmed: 'whoever confirmed the order',
  };
  return ` The request names ${list(vmObjectIds)}, but ${who[how]} names ${list(named)}.`;
}

async function askServers(saga: Saga, expected: ServersOrdered, differing = ''): Promise<number[]> {
  const step = saga.step('find-servers', findTitle);
  step.end('stuck');
  const none = expected.least === 0 ? ' Where there are none, name none: []' : '';
  const servers = isExact(expected) ? `${expected.most} servers?` : `servers? It brings ${rangeOf(expected)}.${none}`;
  const decision = await saga.humanDecisions.ask({
    kind: 'servers',
    step: step.id,
    question: `The order is placed. What are the object ids of its ${servers}${differing}`,
    choices: ['provideServers'],
    objection: (decision) =>
      decision.decision === 'provideServers' ? miscounted(decision.vmObjectIds, expected) : undefined,
  });
  if (decision.decision !== 'provideServers') throw new Error(`${decision.decision} names no servers`);
  step.end('done', 'named by a person');
  return decision.vmObjectIds;
}

/** What a person may say of an order that they confirm: the ids of as many servers as it may bring. Undefined where it brings none. */
export function confirmingServers(expected: ServersOrdered): Confirming | undefined {
  if (expected.most === 0) return undefined;
  return {
    ...(isExact(expected) ? {} : { hint: `It brings ${rangeOf(expected)}.` }),
    objection: (vmObjectIds) => miscounted(vmObjectIds, expected),
  };
}

/** A sentence where the ids are not as many as servers can have been ordered. */
function miscounted(vmObjectIds: readonly number[], servers: ServersOrdered): string | undefined {
  if (fits(vmObjectIds.length, servers)) return undefined;
  return `vmObjectIds: names ${vmObjectIds.length} servers, but ${countOf(servers)} were ordered`;
}

/** Of an order that may bring more or fewer servers. */
function rangeOf(servers: ServersOrdered): string {
  return `${countOf(servers)} servers: not every item’s plan type says whether it is one`;
}

/** Where an earlier run knew the servers: all of them, or nothing is said of any. */
export function idsAmong(assigned: Standing['assigned'], expected: ServersOrdered): number[] | undefined {
  const ids = [...new Set(assigned.map(({ vmObjectId }) => vmObjectId))];
  return isExact(expected) && ids.length === expected.most ? ids : undefined;
}

/** The object ids, where nobody has to be asked for them: the request may name other servers than the order brought. */
export function knownIds(
  { progress }: Saga,
  { vmObjectIds }: Pick<ProvisionServersRequest, 'vmObjectIds'>,
  placement: Placement<unknown> | undefined,
  expected: ServersOrdered,
): number[] | undefined {
  const learnt = progress.known['vmObjectIds'] as number[] | undefined;
  if (learnt !== undefined && fits(learnt.length, expected)) return learnt;
  const placed = placedIds(placement, expected);
  const asked = vmObjectIds !== undefined && fits(vmObjectIds.length, expected) ? vmObjectIds : undefined;
  return placed && asked && !isSame(placed, asked) ? undefined : (placed ?? asked);
}

/** By the provider's answer, or by whoever has seen the order. */
function placedIds(placement: Placement<unknown> | undefined, expected: ServersOrdered): number[] | undefined {
  const ids = placement?.how === 'answered' ? (placement.value as PlacedOrder).vmObjectIds : placement?.vmObjectIds;
  return ids !== undefined && fits(ids.length, expected) ? ids : undefined;
}

function isSame(ones: readonly number[], others: readonly number[]): boolean {
  return ones.length === others.length && ones.every((id) => others.includes(id));
}
