/**
 * The ground of a disaster: a Temporal server on PostgreSQL, the journal in the same cluster, in one of its own or in a
 * file, worker processes, the provider's stand-in, and one person at a terminal. Everything is ended with its closers.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { resolvePrograms } from '../../../../deploy/stack/programs';
import type { ClusterName } from '../../../../deploy/stack/server-config';
import { startStack, type Stack } from '../../../../deploy/stack/stack';
import { startProcess } from '../../../../scripts/processes';
import { untilNamespaceReady, untilReady } from '../../../../scripts/reachable';
import { resolveTemporal } from '../../../../scripts/temporal-cli';
import { Authority, type Certificate } from '../../../support/certificates';
import type { Cluster } from '../../../support/postgres';
import { programOf } from '../../../support/programs';
import { startLink, startTlsProxy, type Link, type TlsProxy } from '../../../support/proxies';
import type { Crew } from '../crew';
import { journalInFile, journalInPostgres, startWorld, type Closers, type JournalPlace, type World } from '../world';

export interface GroundOptions {
  /** The journal's place: beside Temporal's databases, in a cluster of its own, or in a file. @default 'beside' */
  journal?: 'beside' | 'apart' | 'file';
  tls?: boolean;
  /** A second Temporal server takes part, to which this one's namespace is replicated. */
  standby?: boolean;
}

export interface Ground extends Omit<World, 'hire'> {
  stack: Stack;
  /** Temporal's databases, and the journal's where it is beside them. */
  cluster: Cluster;
  journalCluster: Cluster | undefined;
  journalUrl: string;
  fronts: Fronts | undefined;
  standby: Standby | undefined;
  /** All that there were; those of the last one work. */
  crews: Crew[];
  /** @param changes settings that are others from now on */
  hire: (changes?: Record<string, string>) => Promise<void>;
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

/** They end TLS in front of Temporal and of the provider; their certificates can be exchanged meanwhile. */
export interface Fronts {
  temporal: TlsProxy;
  provider: TlsProxy;
  settings: Record<string, string>;
  good: () => Certificate;
  expired: () => Certificate;
}

/** @param to where each is, without TLS */
async function startFronts(closers: Closers, to: { temporal: string; provider: string }): Promise<Fronts> {
  const authority = new Authority();
  closers.add(() => authority.remove());
  const good = () => authority.forServer('DNS:localhost');
  const front = (inner: string, protocol: 'h2' | 'http/1.1') =>
    closers.keep(startTlsProxy({ certificate: good(), to: inner, protocol }), (proxy) => proxy.close());
  const temporal = await front(to.temporal, 'h2');
  const provider = await front(new URL(to.provider).host, 'http/1.1');
  const { certFile } = authority.certificate;
  const settings = {
    TEMPORAL_ADDRESS: `localhost:${temporal.port}`,
    TEMPORAL_TLS: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: certFile,
    PROVIDER_BASE_URL: `https://localhost:${provider.port}`,
    NODE_EXTRA_CA_CERTS: certFile,
  };
  return { temporal, provider, settings, good, expired: () => authority.forServerLongAgo('localhost') };
}

const here: ClusterName = { name: 'here', failoverVersion: 1 };
export const there: ClusterName = { name: 'there', failoverVersion: 2 };

/** A second Temporal server, on its own PostgreSQL, which gets what happens in a namespace of the first one later. */
export interface Standby {
  stack: Stack;
  namespace: string;
  /** By which it hears of the first one; cut, it lags. */
  link: Link;
  /** Runs Temporal's own command line. @returns what it says */
  temporal: (args: readonly string[]) => Promise<string>;
}

const namespace = 'shop';

/** @param first where the first server is */
async function startStandby(closers: Closers, first: string): Promise<Standby> {
  const stack = await closers.keep(startStack({ cluster: there }), (kept) => kept.stop());
  const link = await closers.keep(startLink(first), (kept) => kept.close());
  const cli = await resolveTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' } });
  if (cli.kind !== 'cli') throw new Error('there is no Temporal CLI');
  const { path } = cli;
  const temporal = async (args: readonly string[]) => {
    // A home without anybody's settings of the CLI.
    const env = { PATH: process.env['PATH'], HOME: stack.folder };
    const { stdout } = await promisify(execFile)(path, [...args], { env });
    return stdout;
  };
  const operator = (...args: string[]) => temporal(['operator', ...args]);
  const upsert = (at: string, other: string) =>
    operator('cluster', 'upsert', '--address', at, '--frontend-address', other, '--enable-connection');
  await upsert(first, stack.address);
  await upsert(stack.address, link.address);
  const clusters = ['--cluster', here.name, '--cluster', there.name, '--active-cluster', here.name];
  const create = ['namespace', 'create', '--address', first, '--global', ...clusters, '--retention', '72h'];
  // A server looks now and then which others there are.
  await untilReady('the namespace', () => operator(...create, '-n', namespace));
  for (const address of [first, stack.address]) await untilNamespaceReady(address, namespace);
  return { stack, namespace, link, temporal };
}
