/** Assigns the firewalls to each server that an order brought, then verifies them in the provider's list. */
import { z } from 'zod';
import type { CallContext } from '../activities/call';
import type { FirewallList } from '../activities/firewalls';
import type { Standing } from '../activities/journal';
import { firewallsSchema } from '../domain/requests';
import type { Server } from '../domain/results';
import { activities } from '../saga/activities';
import { attempt, failureOf } from '../saga/attempts';
import { seenByHand } from '../saga/by-hand';
import { Step } from '../saga/progress';
import { recordProtected } from '../saga/metrics';
import type { Saga } from '../saga/saga';
import type { StepOutcome, StepSpec } from '../saga/step-runner';
import type { Denied, Protected, Protection } from './protection';
import type { SecretsSent } from './secrets-sent';

export async function protectServers(
  saga: Saga,
  protection: Protection,
  {
    vmObjectIds,
    requested,
    secrets,
  }: { vmObjectIds: readonly number[]; requested: readonly number[]; secrets: SecretsSent },
): Promise<Server[]> {
  if (requested.length === 0) return vmObjectIds.map((vmObjectId) => ({ vmObjectId, firewalls: [], verified: true }));
  const servers = vmObjectIds.map((vmObjectId): Guarded => ({
    vmObjectId,
    firewalls: [...requested],
    assigning: saga.step(`assign-firewalls-${vmObjectId}`, `Assign firewalls to server ${vmObjectId}`),
    verifying: saga.step(`verify-firewalls-${vmObjectId}`, `Verify firewalls of server ${vmObjectId}`),
  }));
  protection.servers = servers;
  const outcomes = await saga.together(
    servers.map((server): StepSpec<unknown> => ({
      step: server.assigning,
      act: async (asked) => {
        const answer = await activities(`assign firewalls to ${server.vmObjectId}`).assignFirewalls({
          ...idsOf(server),
          countsByHand: true,
          ...secrets.withOthers,
          ...asked,
        });
        server.isAssigned = true;
        return answer;
      },
      byHand: {
        counts: () => (server.isAssigned = true),
        call: (step) => ({ step, kind: 'mutate', activity: 'assignFirewalls', about: idsOf(server) }),
      },
    })),
    {
      refusal: 'ask',
      skippable: true,
      corrections: {
        stuck: {
          schema: () => z.strictObject({ firewalls: firewallsSchema() }),
          apply: ({ firewalls }) => {
            for (const server of servers) {
              if (server.assigning.status !== 'done') server.firewalls = firewalls as number[];
            }
          },
        },
      },
    },
  );
  servers.forEach((server, index) => keepNote(server, outcomes[index]));
  return verify(saga, servers, secrets);
}

/**
 * For a saga that ends: what was assigned counts as protection only while the provider's list does not deny it. Nobody
 * else may have looked. A list that cannot be read denies nothing.
 *
 * @param servers of this run: those that it has looked at are left out
 */
export async function lookAtAssigned(
  saga: Saga,
  assigned: Standing['assigned'],
  servers: readonly Protected[] = [],
): Promise<Denied> {
  const denied = new Map<number, readonly number[]>();
  const isOwn = (id: number) => servers.some((one) => one.vmObjectId === id && one.lacks !== undefined);
  for (const vmObjectId of new Set(assigned.map((one) => one.vmObjectId))) {
    if (isOwn(vmObjectId)) continue;
    const step = new Step(`list-firewalls-${vmObjectId}`, `List the firewalls of server ${vmObjectId}`);
    const looked = await attempt<FirewallList>({ step, journal: saga.journal, undoing: true }, ({ retry }) =>
      activities(`list firewalls of ${vmObjectId}`).listFirewalls({ vmObjectId, secrets: 'unknown', retry }),
    );
    if (!looked.ok || !('firewalls' in looked.value)) continue;
    const { firewalls: shown } = looked.value;
    const all = assigned.flatMap((one) => (one.vmObjectId === vmObjectId ? one.firewalls : []));
    const missing = all.filter((id) => !shown.includes(id));
    if (missing.length > 0) denied.set(vmObjectId, missing);
  }
  return denied;
}

type Guarded = Protected & { assigning: Step; verifying: Step };

const idsOf = ({ vmObjectId, firewalls }: Protected) => ({ vmObjectId, firewalls });

function keepNote(server: Protected, outcome: StepOutcome<unknown> | undefined): void {
  if (outcome?.skipped && outcome.note !== undefined) server.note = outcome.note;
}

async function verify(saga: Saga, servers: readonly Guarded[], secrets: SecretsSent): Promise<Server[]> {
  const assigned = servers.filter(({ assigning }) => assigning.status === 'done');
  const outcomes = await saga.together(
    assigned.map((server): StepSpec<FirewallList | typeof seenByHand> => ({
      step: server.verifying,
      act: ({ retry }) => listUntilShown(server, secrets, retry),
      byHand: {
        counts: () => {
          server.lacks = [];
          recordProtected();
          return seenByHand;
        },
      },
    })),
    { refusal: 'ask', skippable: true },
  );
  return servers.map((server) => {
    const outcome = outcomes[assigned.indexOf(server)];
    keepNote(server, outcome);
    if (outcome === undefined) {
      server.verifying.end('skipped');
      return { vmObjectId: server.vmObjectId, firewalls: [], verified: false };
    }
    if (!outcome.skipped && outcome.value !== seenByHand && 'firewalls' in outcome.value) {
      return { vmObjectId: server.vmObjectId, firewalls: outcome.value.firewalls, verified: true };
    }
    if (!outcome.skipped && outcome.value !== seenByHand) {
      server.verifying.say('unverified: the list’s format is not known');
      server.isUnverified = true;
    }
    const { vmObjectId, firewalls, lacks = [] } = server;
    return { vmObjectId, firewalls: firewalls.filter((id) => !lacks.includes(id)), verified: false };
  });
}

/** The server lacks the firewalls that the list does not show, whatever the answer to the assignment was. */
async function listUntilShown(
  server: Protected,
  secrets: SecretsSent,
  retry: CallContext['retry'],
): Promise<FirewallList> {
  const { vmObjectId, firewalls } = server;
  try {
    const list = await activities(`list firewalls of ${vmObjectId}`).listFirewalls({
      vmObjectId,
      expect: firewalls,
      ...secrets.withOthers,
      retry,
    });
    server.lacks = [];
    if ('firewalls' in list) recordProtected();
    return list;
  } catch (error) {
    const lacks = failureOf(error)?.lacks;
    if (lacks !== undefined) server.lacks = lacks;
    throw error;
  }
}
