/**
 * Every setting of `.env` is in the environment of the processes that docker-compose.yml names, or was obeyed by a
 * set-up.
 */
import assert from 'node:assert/strict';
import { readCompose } from '../../compose';
import { processEnvironment } from '../processes';
import type { Context } from '../checks';
import { workerSettings } from './first';

/** What a set-up did with it can be asked afterwards. */
const askedElsewhere = ['RETENTION', 'GRAFANA_PASSWORD'];

export async function settings({ checks, project }: Context): Promise<void> {
  const given = project.readEnv();
  const reached = new Set<string>();
  for (const [service, names] of Object.entries(settingsOf(readCompose().services))) {
    if (!(await project.states()).some(({ Service, State }) => Service === service && State === 'running')) continue;
    await checks.check(`the process of ${service} has ${names.map(([, from]) => from).join(', ')}`, async () => {
      const has = await processEnvironment(project, service);
      for (const [variable, from] of names) {
        assert.ok(has[variable]?.includes(given[from] ?? ''), `${variable} has not what ${from} is`);
        assert.ok(given[from] !== '', `${from} is empty, so this shows nothing`);
        reached.add(from);
      }
    });
  }

  await checks.check('the process of worker has what worker.env says', async () => {
    const has = await processEnvironment(project, 'worker');
    for (const [name, value] of Object.entries(workerSettings)) assert.equal(has[name], value, name);
  });

  await checks.check('a namespace with the chosen retention was made', async () => {
    const { stdout } = await project.compose([
      ...['run', '--rm', '--no-deps', '-T', '--entrypoint', 'temporal', 'temporal-namespace'],
      ...['operator', 'namespace', 'describe', given['TEMPORAL_NAMESPACE'] ?? '', '--output', 'json'],
    ]);
    const seconds = Number.parseInt(given['RETENTION'] ?? '', 10) * 86_400;
    assert.match(stdout, new RegExp(`"${seconds}s"`));
  });

  for (const [user, database, setting] of [
    ['temporal', 'temporal', 'POSTGRES_PASSWORD'],
    ['journal', 'journal', 'JOURNAL_PASSWORD'],
  ] as const)
    await checks.check(`PostgreSQL lets ${user} in with ${setting}, and with no other`, async () => {
      const ask = (password: string) =>
        project.inside('postgres', ['env', `PGPASSWORD=${password}`, 'sh', '-c', connect(user, database)]);
      const right = await ask(given[setting] ?? '');
      assert.equal(right.status, 0, right.all);
      assert.match((await ask('another')).all, /password authentication failed/);
    });

  await checks.check('no setting of .env is left that reaches nothing', () => {
    const unread = Object.keys(given).filter((name) => !reached.has(name) && !askedElsewhere.includes(name));
    assert.deepEqual(unread, []);
    return Promise.resolve();
  });
}

/** By the network: the socket asks for no password. */
const connect = (user: string, database: string) =>
  `psql --no-psqlrc --host "$(hostname -i)" --username ${user} --dbname ${database} --command 'select 1'`;

/** By service, each variable with the setting of `.env` that its value is made of. */
function settingsOf(services: object): Record<string, [string, string][]> {
  const pairs = Object.entries(services as Record<string, { environment?: object }>).map(
    ([service, { environment }]) => {
      const found = Object.entries(environment ?? {}).flatMap(([variable, value]) =>
        [...JSON.stringify(value).matchAll(/\$\{(\w+)/g)].map(([, from = '']): [string, string] => [variable, from]),
      );
      return [service, found] as const;
    },
  );
  return Object.fromEntries(pairs.filter(([, found]) => found.length > 0));
}
