/**
 * What a disaster strikes: a Temporal server on PostgreSQL, the journal in the same cluster, in one of its own or in a
 * file, worker processes, the provider's stand-in, and one person at a terminal. Everything is ended with its closers.
 */
import { join } from 'node:path';
import { resolvePrograms } from '../../../../deploy/stack/programs';
import { startStack, type Stack } from '../../../../deploy/stack/stack';
import { startProcess } from '../../../../scripts/processes';
import type { Cluster } from '../../../support/postgres';
import { programOf } from '../../../support/programs';
import type { Closers } from '../closers';
import type { Crew } from '../crew';
import { journalInFile, journalInPostgres, type JournalPlace } from '../journal';
import { startWorld, type World } from '../world';
import { startFronts, type Fronts } from './fronts';
import { here, startStandby, type Standby } from './standby';

export interface GroundOptions {
  /** Where the journal is: beside Temporal's databases, in a cluster of its own, or in a file. @default 'beside' */
  journal?: 'beside' | 'apart' | 'file';
  /** The way to Temporal and to the provider is TLS. */
  tls?: boolean;
  /** A second Temporal server takes part, to which this one's namespace is replicated. */
  standby?: boolean;
}

export interface Ground extends Omit<World, 'hire'> {
  stack: Stack;
  /** Temporal's databases, and the journal's where it is beside them. */
  cluster: Cluster;
  /** The journal's, where it has one of its own. */
  journalCluster: Cluster | undefined;
  journalUrl: string;
  /** Where TLS ends. */
  fronts: Fronts | undefined;
  standby: Standby | undefined;
  /** All that there were; those of the last one work. */
  crews: Crew[];
  /** @param changes settings that are others from now on */
  hire: (changes?: Record<string, string>) => Promise<void>;
  /** All workers end at once, and none follows. */
  dismiss: () => Promise<void>;
  /** Starts one worker more. @returns whether it ended before it was ready, and its last words */
  tryWorker: () => Promise<{ ended: boolean; words: string }>;
}

const workers = 2;

export async function startGround(closers: Closers, compiled: string, options: GroundOptions): Promise<Ground> {
  const { postgres: programs } = await resolvePrograms();
  const named = options.standby ? { cluster: here } : {};
  const stack = await closers.keep(startStack(named), (kept) => kept.stop());
  const { postgres: part, superuser, address } = stack;
  const cluster = { programs, folder: join(stack.folder, 'postgres'), part, superuser };
  const journal = await startJournal(closers, stack, options.journal);
  const standby = options.standby ? await startStandby(closers, address) : undefined;
  const world = await startWorld(closers, {
    ...{ compiled, address, journalUrl: journal.url },
    ...(standby && { namespace: standby.namespace }),
    sandbox: { anyServer: true },
    // Minutes of a real disaster are seconds here.
    settings: { PROVIDER_TIMEOUT_MS: '12000', PROVIDER_SETTLES_MS: '1000', RETRY_BUDGET: '4,200,1000,60000' },
  });
  const { sandbox, settings } = world;
  const fronts = options.tls ? await startFronts(closers, { temporal: address, provider: sandbox.url }) : undefined;
  Object.assign(settings, fronts?.settings);
  const crews: Crew[] = [];
  return {
    ...world,
    ...{ stack, cluster, journalCluster: journal.cluster, journalUrl: journal.url, fronts, standby, crews },
    hire: async (changes) => {
      Object.assign(settings, changes);
      crews.push(await world.hire(workers));
    },
    dismiss: async () => crews.at(-1)?.close(),
    tryWorker: async () => {
      try {
        const worker = await startProcess(programOf('worker', compiled), settings);
        await worker.kill('SIGKILL');
        return { ended: false, words: '' };
      } catch (error) {
        return { ended: true, words: (error as Error).message };
      }
    },
  };
}

async function startJournal(
  closers: Closers,
  stack: Stack,
  where: GroundOptions['journal'] = 'beside',
): Promise<JournalPlace> {
  if (where === 'beside') return { url: stack.journalUrl };
  return where === 'file' ? journalInFile(closers) : journalInPostgres(closers);
}
