/** The journal of a run: in PostgreSQL, which can be killed and comes back; where there is none, in a file. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../../deploy/stack/postgres';
import { postgresFolder } from '../../../deploy/stack/programs';
import { lowPorts } from '../../../scripts/reachable';
import { migrate } from '../../../src/journal/migrate';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { rowsIn, type Row } from '../../support/rows-and-ledger';
import type { JournalAddress } from '../../../src/journal/dialects';

export interface ChaosJournal {
  url: string;
  /** Undefined for a file. @param whenDead is called between death and return */
  die?: (whenDead: () => void) => Promise<void>;
  rows: () => Promise<Row[]>;
  close: () => Promise<void>;
}

export async function startJournal(): Promise<ChaosJournal> {
  const programs = postgresFolder();
  return programs === undefined ? journalInFile() : inPostgres(programs);
}

export async function journalInFile(): Promise<ChaosJournal> {
  const folder = await mkdtemp(join(tmpdir(), 'order-saga-chaos-journal-'));
  const file = join(folder, 'journal.db');
  return {
    url: `file:${file}`,
    rows: () => rowsOf({ file }),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

async function inPostgres(programs: string): Promise<ChaosJournal> {
  const folder = await mkdtemp(join(tmpdir(), 'order-saga-chaos-journal-'));
  // The server runs as another user.
  await chmod(folder, 0o755);
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  const [user, password] = ['order_saga', randomUUID()];
  try {
    const [port = 0] = await lowPorts(1);
    const place = { programs, folder: join(folder, 'postgres'), port: String(port) };
    const part = await startPostgres({ ...place, user, password, args: ['-c', 'max_connections=200'] });
    const postgres = `postgres://${user}:${password}@127.0.0.1:${port}/postgres`;
    await migrate({ postgres });
    let last: Promise<void> = Promise.resolve();
    return {
      url: postgres,
      die: (whenDead) => {
        last = last.then(async () => {
          await part.kill();
          whenDead();
          await part.restart();
        });
        return last;
      },
      rows: () => rowsOf({ postgres }),
      close: async () => {
        await last.catch(() => undefined);
        await part.kill();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

export async function rowsOf(address: JournalAddress): Promise<Row[]> {
  const journal = await openJournal(address, createSealing(undefined));
  try {
    return await rowsIn(journal.db);
  } finally {
    await journal.close();
  }
}
