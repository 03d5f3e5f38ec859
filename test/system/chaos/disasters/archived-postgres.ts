/**
 * A PostgreSQL cluster whose write-ahead log is archived: it can be backed up while it works, and be restored to a
 * time. The commands are those of docs/disasters.md.
 */
import { execFile } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askPostgres, asPostgres } from '../../../../deploy/stack/postgres';
import type { Cluster } from '../../../support/postgres';
import { until } from '../../../support/rig';

const run = promisify(execFile);

export class ArchivedPostgres {
  private readonly data: string;
  private readonly archive: string;
  private readonly base: string;

  private constructor(
    private readonly cluster: Cluster,
    /** Is told each command, as a person would type it. */
    private readonly note: (command: string) => void,
  ) {
    const { folder } = cluster;
    this.data = join(folder, 'data');
    this.archive = join(folder, 'archive');
    this.base = join(folder, 'base');
  }

  /** From now on its log is archived: for that it starts once more. */
  static async of(cluster: Cluster, note: (command: string) => void): Promise<ArchivedPostgres> {
    const postgres = new ArchivedPostgres(cluster, note);
    await as('mkdir', [postgres.archive]);
    const archived = join(postgres.archive, '%f');
    await postgres.sql("alter system set archive_mode = 'on'");
    await postgres.sql(`alter system set archive_command = 'test ! -f ${archived} && cp %p ${archived}'`);
    await cluster.part.kill();
    await cluster.part.restart();
    return postgres;
  }

  sql(statement: string): Promise<string> {
    const { programs, superuser } = this.cluster;
    return askPostgres(programs, { ...superuser, database: 'postgres' }, statement);
  }

  async backUp(): Promise<void> {
    const { programs, superuser } = this.cluster;
    const { user, password, port } = superuser;
    this.note('pg_basebackup --pgdata /backups/base --checkpoint fast');
    const where = ['--host', '127.0.0.1', '--port', port, '--username', user];
    const how = ['--pgdata', this.base, '--checkpoint', 'fast'];
    await as(join(programs, 'pg_basebackup'), [...where, ...how], { PGPASSWORD: password });
  }

  /** By its own clock, as a target of recovery. */
  time(): Promise<string> {
    return this.sql('select clock_timestamp()');
  }

  /** Waits until what was committed until now is in the archive, as `archive_timeout` sees to it. */
  async archiveAll(): Promise<void> {
    const segment = await this.sql('select pg_walfile_name(pg_switch_wal())');
    await until(async () => (await this.sql('select last_archived_wal from pg_stat_archiver')) >= segment);
  }

  /** The machine is lost, with all that was not archived; not even its last words are heard. */
  async lose(): Promise<void> {
    await this.cluster.part.kill();
    await run('rm', ['-rf', this.data]);
  }

  /** After it was lost. @param target a time; without one, to the end of what was archived */
  async restore(target?: string): Promise<void> {
    const settings = [
      `restore_command = 'cp ${join(this.archive, '%f')} %p'`,
      ...(target === undefined ? [] : [`recovery_target_time = '${target}'`, "recovery_target_action = 'promote'"]),
    ];
    this.note('cp -a /backups/base "$PGDATA"');
    for (const line of settings)
      this.note(`echo "${line.replace(this.archive, '/backups/archive')}" >> "$PGDATA/postgresql.auto.conf"`);
    this.note('touch "$PGDATA/recovery.signal" && pg_ctl start');
    await run('cp', ['-a', this.base, this.data]);
    await appendFile(join(this.data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
    await writeFile(join(this.data, 'recovery.signal'), '');
    await this.cluster.part.restart();
    await until(async () => (await this.sql('select pg_is_in_recovery()').catch(() => 't')) === 'f');
  }
}

/** As whoever PostgreSQL runs as. */
async function as(program: string, args: readonly string[], environment: Record<string, string> = {}): Promise<void> {
  const [command, prefix] = asPostgres();
  await run(command, [...prefix, program, ...args], { env: { ...process.env, ...environment } });
}
