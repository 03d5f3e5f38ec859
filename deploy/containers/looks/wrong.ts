/** Mistakes that people make, and the one sentence that each is told. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { untilReady } from '../../../scripts/reachable';
import { schemaNumber } from '../../../src/journal/open';
import { succeeded, type Said } from '../command';
import type { Project } from '../project';
import type { Context } from '../checks';

export async function wrong({ checks, project }: Context): Promise<void> {
  await checks.check('a port in use: compose names it', async () => {
    await project.compose(['rm', '--stop', '--force', 'codec-server']);
    const holder = createServer();
    await once(holder.listen(8088, '127.0.0.1'), 'listening');
    try {
      const { status, stderr } = await project.attempt(['up', '--detach', '--wait', 'codec-server']);
      assert.notEqual(status, 0);
      assert.match(stderr, /127\.0\.0\.1:8088.*in use/);
    } finally {
      holder.close();
    }
    await project.up();
  });

  await checks.check(
    'a journal that is older than the image: the worker says what to run, and that brings it up to date',
    async () => {
      await sql(project, 'create database older owner journal');
      const JOURNAL_URL = `postgres://journal:${project.readEnv()['JOURNAL_PASSWORD']}@postgres:5432/older`;
      const sentence = `the journal is of schema 0, and this release needs ${schemaNumber}`;
      says(await oneOff(project, 'worker', { JOURNAL_URL }), oneSentence(sentence));
      const migrated = await oneOff(project, 'journal-schema', { JOURNAL_URL });
      assert.equal(migrated.status, 0, migrated.all);
      const status = await oneOff(project, 'worker', { JOURNAL_URL }, ['dist/starter.js', 'journal', 'status']);
      assert.equal(status.status, 0, status.all);
    },
  );

  await checks.check(
    'a journal that is newer than the image: neither migration nor worker touches it, and why.sh says so',
    async () => {
      await sql(project, "insert into kysely_migration values ('9999-of-a-newer-release', '2099-01-01')");
      const sentence = `the journal is of schema ${schemaNumber + 1}, and this release knows ${schemaNumber}`;
      try {
        says(await oneOff(project, 'worker'), oneSentence(sentence));
        await project.compose(['rm', '--stop', '--force', 'worker']);
        const { status } = await project.attempt(['up', '--detach', '--wait']);
        assert.notEqual(status, 0);
        await whySays(project, new RegExp(`^journal-schema .*${sentence}`, 'm'));
      } finally {
        await sql(project, "delete from kysely_migration where name = '9999-of-a-newer-release'");
      }
      await project.up();
    },
  );

  await checks.check(
    'the volume of another major version of PostgreSQL: it does not start, and why.sh says which',
    async () => {
      await project.compose(['stop']);
      const version = (await inVolume(project, 'cat "$PGDATA/PG_VERSION"')).stdout.trim();
      await inVolume(project, `echo ${Number(version) - 1} >"$PGDATA/PG_VERSION"`);
      try {
        const { status } = await project.attempt(['up', '--detach', '--wait']);
        assert.notEqual(status, 0);
        const sentence = `version ${Number(version) - 1}, which is not compatible with this version ${version}`;
        await whySays(project, new RegExp(`^postgres .*PostgreSQL ${sentence}`, 'm'));
      } finally {
        // Between two of its restarts it counts as unhealthy, and nobody waits for it.
        await project.compose(['stop', 'postgres']);
        await inVolume(project, `echo ${version} >"$PGDATA/PG_VERSION"`);
      }
      await project.up();
    },
  );

  await checks.check(
    'a new .env for an old journal: the worker does not start with another key under the same id',
    async () => {
      const { PAYLOAD_KEYS = '' } = project.readEnv();
      const id = PAYLOAD_KEYS.split(':')[0] ?? '';
      project.changeEnv({ PAYLOAD_KEYS: `${id}:${randomBytes(32).toString('base64')}` });
      try {
        const { status } = await project.attempt(['up', '--detach', '--wait']);
        assert.notEqual(status, 0);
        const sentence = `encrypted with key “${id}”.*set PAYLOAD_KEYS to the keys of the time`;
        await whySays(project, new RegExp(`^worker .*${sentence}`, 'm'));
      } finally {
        project.changeEnv({ PAYLOAD_KEYS });
      }
      await project.up();
    },
  );
}

/** A container of its own, which ends. */
function oneOff(
  project: Project,
  service: string,
  changes: Record<string, string> = {},
  command: readonly string[] = [],
): Promise<Said> {
  const settings = Object.entries(changes).flatMap((entry) => ['--env', entry.join('=')]);
  return project.attempt(['run', '--rm', '--no-deps', '-T', ...settings, service, ...command], { withinMs: 60_000 });
}

function says({ status, stdout, stderr }: Said, sentence: RegExp): void {
  assert.ok(status > 0, 'it did not end by itself');
  assert.match(`${stdout}${stderr}`, sentence);
}

/** The worker says it in one line. */
const oneSentence = (beginning: string) => new RegExp(`^worker cannot start: ${beginning}[^\\n]*$`, 'm');

async function sql(project: Project, statement: string): Promise<void> {
  const psql = ['psql', '--username', 'temporal', '--dbname', 'journal', '--command', statement];
  succeeded(await project.inside('postgres', psql), psql);
}

/** As PostgreSQL’s own user, in the volume of a server that is stopped. */
function inVolume(project: Project, script: string): Promise<Said> {
  const once = ['run', '--rm', '--no-deps', '-T', '--user', 'postgres', '--entrypoint', 'sh'];
  return project.compose([...once, 'postgres', '-c', script]);
}

/** By what a person is told to run when it did not come up: between two restarts it says little, so it is asked again. */
function whySays(project: Project, sentence: RegExp): Promise<void> {
  return untilReady('what why.sh says', async () => {
    const { stdout, all } = await project.shell('sh deploy/why.sh');
    assert.ok(sentence.test(stdout), `it does not say ${String(sentence)}:\n${all}`);
  });
}
