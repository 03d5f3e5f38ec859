/**
 * The ground under the sagas lies:
 *
 *   disk    the journal's disk does not sync, and does not write, now and then (libfiu); the journal is a file
 *   clock   workers live two hours ahead of the journal and of Temporal, or behind them (faketime)
 *   line    connections of workers to the journal and to Temporal break, or fall silent, in the middle of a message
 *   engine  Temporal's store has written what it says that it could not write (the server's own fault injection)
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startStack } from '../../../../deploy/stack/stack';
import { startLink } from '../../../support/proxies';
import { MortalServer } from '../mortal-server';
import type { Figure } from '../report';
import { journalInFile, startJournal, type Closers, type JournalPlace } from '../world';

export const lies = ['disk', 'clock', 'line', 'engine'] as const;
export type Lie = (typeof lies)[number];

export interface Ground {
  server: Pick<MortalServer, 'address' | 'copy' | 'die'>;
  journal: JournalPlace;
  isMortal: boolean;
  environmentOf: (nth: number) => Record<string, string>;
  /** How often it lied, where that can be counted here. */
  told?: () => Figure;
}

export async function groundOf(lie: Lie | undefined, closers: Closers): Promise<Ground> {
  if (lie === 'engine') return lyingEngine(closers);
  const server = await closers.keep(MortalServer.start(), (mortal) => mortal.close());
  const journal = await (lie === 'disk' ? journalInFile(closers) : startJournal(closers));
  const honest = { server, journal, isMortal: true };
  switch (lie) {
    case 'disk':
      return { ...honest, environmentOf: () => preloading(fiu, { FIU_ENABLE: badDisk }) };
    case 'clock': {
      const shifted = (nth: number) => (nth % 2 === 0 ? '+2h' : '-2h');
      // A worker waits by the monotonic clock, which runs as it should.
      return { ...honest, environmentOf: (nth) => preloading(faketime, { FAKETIME: shifted(nth), ...onlyWallClock }) };
    }
    case 'line':
      return { ...honest, ...(await badLines(honest, closers)) };
    case undefined:
      return { ...honest, environmentOf: () => ({}) };
  }
}

const fiu = ['/usr/lib/fiu/fiu_run_preload.so', '/usr/lib/fiu/fiu_posix_preload.so'];
const badDisk = ['sync/fsync', 'sync/fdatasync', 'rw/pwrite']
  .map((call) => `enable_random name=posix/io/${call},probability=0.05`)
  .join('\n');

const faketime = ['/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'];
const onlyWallClock = { FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };

/** @throws where it is not installed: the worker would run, and meet no fault */
function preloading(libraries: readonly string[], environment: Record<string, string>): Record<string, string> {
  for (const library of libraries)
    if (!existsSync(library)) throw new Error(`there is no ${library} (Debian: fiu-utils, faketime)`);
  return { ...environment, LD_PRELOAD: libraries.join(' ') };
}

/** To the journal every few dozen statements, some of them by silence; to Temporal now and then. */
async function badLines({ server, journal }: Pick<Ground, 'server' | 'journal'>, closers: Closers) {
  const address = new URL(journal.url);
  const toJournal = await startLink(address.host, () => ({
    afterBytes: 2_000 + Math.random() * 60_000,
    how: Math.random() < 0.2 ? 'silence' : 'cut',
  }));
  const toTemporal = await startLink(server.address, () => ({ afterBytes: 1e6 + Math.random() * 5e6, how: 'cut' }));
  closers.add(() => toJournal.close());
  closers.add(() => toTemporal.close());
  address.host = toJournal.address;
  return {
    environmentOf: () => ({ JOURNAL_URL: address.href, TEMPORAL_ADDRESS: toTemporal.address }),
    told: () => ({
      of: 'connections that broke',
      count: toJournal.broken,
      detail: `to the journal, and ${toTemporal.broken} to Temporal`,
    }),
  };
}

async function lyingEngine(closers: Closers): Promise<Ground> {
  const stack = await closers.keep(startStack({ faults: true }), (kept) => kept.stop());
  const journal = await startJournal(closers);
  const log = join(stack.folder, 'temporal-server.log');
  return {
    // Its database is not killed, copied or emptied here: the plan is carried out without that.
    server: { address: stack.address, copy: () => Promise.resolve(), die: () => Promise.resolve() },
    journal,
    isMortal: false,
    environmentOf: () => ({}),
    told: () => ({
      of: 'faults of Temporal’s store, in its log',
      count: readFileSync(log, 'utf8').split('fault injection error').length - 1,
    }),
  };
}
