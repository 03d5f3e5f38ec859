/**
 * A second Temporal server, on a PostgreSQL of its own, which gets all that happens in a namespace of the first one, a
 * moment later.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ClusterName } from '../../../../deploy/stack/server-config';
import { startStack, type Stack } from '../../../../deploy/stack/stack';
import { untilNamespaceReady, untilReady } from '../../../../scripts/reachable';
import { resolveTemporal } from '../../../../scripts/temporal-cli';
import { startLink, type Link } from '../../../support/proxies';
import type { Closers } from '../closers';

export const here: ClusterName = { name: 'here', failoverVersion: 1 };
export const there: ClusterName = { name: 'there', failoverVersion: 2 };

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
export async function startStandby(closers: Closers, first: string): Promise<Standby> {
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
