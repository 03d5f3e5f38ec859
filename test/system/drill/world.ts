/** What a night takes place in: everything is started, and ended with its closers. */
import { Client, Connection } from '@temporalio/client';
import { Sandbox } from '../../../sandbox/server';
import { OrderSagaClient } from '../../../src/client/client';
import { buildPrograms, programOf } from '../../support/programs';
import type { Closers } from '../chaos/closers';
import { Crew } from '../chaos/crew';
import { journalInFile, type ChaosJournal } from '../chaos/journal';
import { MortalServer } from '../chaos/mortal-server';
import { Person } from './person';
import { Terminal } from './terminal';

export interface World {
  sandbox: Sandbox;
  temporal: Client;
  sagas: OrderSagaClient;
  crew: Crew;
  journal: ChaosJournal;
  person: Person;
}

export interface WorldOptions {
  workers: number;
  /** The limit of calls, for all workers together. */
  callsPerSecond: number;
  patienceMs: number;
}

/** @throws NoTemporalError */
export async function startWorld(closers: Closers, options: WorldOptions): Promise<World> {
  const { workers, callsPerSecond, patienceMs } = options;
  const programs = await buildPrograms();
  const { address } = await closers.keep(MortalServer.start(), (server) => server.close());
  const journal = await closers.keep(journalInFile(), (kept) => kept.close());
  // The document does not say that an item can be ordered only once, so a provider that refuses it would hide second
  // orders.
  const answers = { orderResponse: 'ids', closedCartItems: 'take', latencyMs: 20 } as const;
  const sandbox = await closers.keep(Sandbox.start(answers), (kept) => kept.close());
  const environment = {
    TEMPORAL_ADDRESS: address,
    PROVIDER_BASE_URL: sandbox.url,
    JOURNAL_URL: journal.url,
    PROVIDER_CALLS_PER_SECOND: String(callsPerSecond),
    PROVIDER_TIMEOUT_MS: '3000',
    PROVIDER_SETTLES_MS: '3000',
    SERVER_POINTERS: '/vm_object_ids',
    RETRY_BUDGET: '3,200,1000,60000',
    // Minutes of a real night are seconds here.
    OUTAGE_HOLD_MS: '4000',
    OUTAGE_WINDOW_MS: '3000',
    OUTAGE_CALLS_MIN: '8',
    LOG_LEVEL: 'error',
  };
  const crew = new Crew(programOf('worker', programs), () => environment, sandbox);
  closers.add(() => crew.close());
  await crew.hire(workers);
  // Left open: sagas that have not ended are still being asked for, and the process ends with the run.
  const connection = await Connection.connect({ address });
  const temporal = new Client({ connection });
  const program = programOf('starter', programs);
  const terminal = new Terminal({ program, environment: { TEMPORAL_ADDRESS: address }, patienceMs });
  const person = new Person(terminal, sandbox);
  return { sandbox, temporal, sagas: new OrderSagaClient(temporal), crew, journal, person };
}
