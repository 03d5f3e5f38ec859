/** What every story of this folder takes place in: the provider's stand-in, worker processes, a client and a person. */
import { Client, Connection } from '@temporalio/client';
import { Sandbox, type SandboxOptions } from '../../../sandbox/server';
import { OrderSagaClient } from '../../../src/client/client';
import { workflowNames } from '../../../src/domain/identity';
import { programOf } from '../../support/programs';
import type { Closers } from './closers';
import { Crew } from './crew';
import { Person } from './person';

export interface World {
  sandbox: Sandbox;
  temporal: Client;
  sagas: OrderSagaClient;
  person: Person;
  /** Of workers and of the person, from their next start on. */
  settings: Record<string, string>;
  /** @param count of worker processes that there are from now on */
  hire: (count: number) => Promise<Crew>;
}

export interface WorldOptions {
  /** The folder of our programs. */
  compiled: string;
  /** Where Temporal is. */
  address: string;
  namespace?: string;
  journalUrl: string;
  sandbox?: SandboxOptions;
  /** Beside the usual. */
  settings: Record<string, string>;
  /** Of the nth worker, beside those of all. */
  environmentOf?: (nth: number) => Record<string, string>;
}

/** Everything is ended with its closers. */
export async function startWorld(closers: Closers, options: WorldOptions): Promise<World> {
  const { compiled, address, namespace = 'default', journalUrl, environmentOf } = options;
  // The document does not say that an item can be ordered only once, so a provider that refuses it would hide second
  // orders.
  const answers = { orderResponse: 'ids', closedCartItems: 'take', latencyMs: 20 } as const;
  const sandbox = await closers.keep(Sandbox.start({ ...answers, ...options.sandbox }), (kept) => kept.close());
  const settings: Record<string, string> = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    PROVIDER_BASE_URL: sandbox.url,
    JOURNAL_URL: journalUrl,
    SERVER_POINTERS: '/vm_object_ids',
    LOG_LEVEL: 'error',
    ...options.settings,
  };
  const hire = async (count: number) => {
    const crew = new Crew(programOf('worker', compiled), (nth) => ({ ...settings, ...environmentOf?.(nth) }), sandbox);
    closers.add(() => crew.close());
    await crew.hire(count);
    return crew;
  };
  // Left open: sagas that have not ended are still being asked for, and the process ends with the run.
  const temporal = new Client({ connection: await Connection.connect({ address }), namespace });
  const person = new Person(programOf('starter', compiled), settings, sandbox);
  return { sandbox, temporal, sagas: new OrderSagaClient(temporal), person, settings, hire };
}

export async function countOpen({ temporal }: Pick<World, 'temporal'>): Promise<number> {
  const types = workflowNames.map((name) => `'${name}'`).join();
  return (await temporal.workflow.count(`ExecutionStatus = 'Running' AND WorkflowType IN (${types})`)).count;
}
