/**
 * A Temporal server that is killed as in a crash, and comes back at the same address: with what it had written to its
 * file, with an older copy of that, or with nothing.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer, type DevServer } from '../../../scripts/dev-server';
import { resolveTemporal } from '../../../scripts/temporal-cli';
import { crashCopy, putDatabaseBack, removeDatabase } from '../../support/sqlite-copy';
import type { Loss } from './storm/plan';

export class MortalServer {
  /** One death after the other, however close together they are asked for. */
  private last: Promise<void> = Promise.resolve();
  private ended = false;

  private constructor(
    private readonly cli: string,
    private readonly folder: string,
    private server: DevServer,
  ) {}

  static async start(): Promise<MortalServer> {
    // Nobody else's server is killed, whatever the environment names.
    const temporal = await resolveTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' } });
    if (temporal.kind !== 'cli') throw new Error('a server of somebody else cannot be killed');
    const folder = await mkdtemp(join(tmpdir(), 'order-saga-chaos-'));
    try {
      return new MortalServer(temporal.path, folder, await startDevServer(optionsOf(temporal.path, folder)));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get address(): string {
    return this.server.address;
  }

  /** As a backup of this moment: what it has not written yet is not in it. */
  copy(): Promise<void> {
    this.last = this.last.then(async () => {
      if (this.ended) return;
      await crashCopy(this.server.pid, this.file, this.copied);
    });
    return this.last;
  }

  /** @param whenDead is awaited between death and return */
  die(how: Loss['how'], whenDead: () => Promise<void> | void): Promise<void> {
    this.last = this.last.then(async () => {
      if (this.ended) return;
      const port = Number(this.address.split(':')[1]);
      await this.server.kill();
      await whenDead();
      if (how === 'restored') putDatabaseBack(this.copied, this.file);
      if (how === 'forgotten') removeDatabase(this.file);
      this.server = await startDevServer({ ...optionsOf(this.cli, this.folder), port });
    });
    return this.last;
  }

  private get file(): string {
    return fileIn(this.folder);
  }

  private get copied(): string {
    return `${this.file}.copy`;
  }

  async close(): Promise<void> {
    this.ended = true;
    await this.last.catch(() => undefined);
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const fileIn = (folder: string) => join(folder, 'temporal.db');
const optionsOf = (cli: string, folder: string) => ({ cli, ui: false, dbFile: fileIn(folder) });
