/**
 * A commit that PostgreSQL answers with a warning only: it did not wait for its synchronous standby. The server's own
 * settings keep warnings to itself.
 */
import { JournalUnavailable } from '../../../src/journal/errors';
import { migrate } from '../../../src/journal/migrate';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { until } from '../../support/rig';
import { PostgresServer } from '../../support/postgres';

it.each([
  ['a pivot, in a transaction', 'pivot', 'placeChangeOrder'],
  ['a step, in one statement', 'mutate', 'assignFirewalls'],
] as const)('counts as lost, and nothing is sent: %s', async (_, kind, activity) => {
  const server = await PostgresServer.start();
  const address = { postgres: server.url({ database: await server.createDatabase() }) };
  await migrate(address);
  await server.ask(`alter database ${address.postgres.split('/').at(-1)} set client_min_messages = 'error'`);
  const journal = await openJournal(address, createSealing(undefined), { how: 'lossless', warn: () => undefined });
  try {
    const key = { workflow: 'changeOrder', reference: 'PO-1' } as const;
    const { knows } = await journal.take(key, { account: undefined, request: {}, run: 'r', opens: true });
    // From here on every commit waits for a standby that is down.
    await server.ask(`alter system set synchronous_standby_names = 'standby1'`);
    await server.ask('select pg_reload_conf()');
    await until(async () => {
      const [row] = await server.ask<{ setting: string }>(
        `select setting from pg_settings where name = 'synchronous_standby_names'`,
      );
      return row?.setting === 'standby1';
    });
    const call = { step: 'a-step', kind, activity, about: {} };
    const meant = journal.mean({ ...key, call, run: 'r', isOwn: true, inFlightMs: 1_000, knows }).then(
      ({ how }) => how,
      (error: unknown) => error,
    );
    const waiting = `from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'order-saga'`;
    await until(async () => (await server.ask(`select pid ${waiting}`)).length === 1);
    await server.ask(`select pg_cancel_backend(pid) ${waiting}`);
    expect(await meant).toBeInstanceOf(JournalUnavailable);
  } finally {
    await server.ask('alter system reset synchronous_standby_names');
    await server.ask('select pg_reload_conf()');
    await journal.close();
  }
});
