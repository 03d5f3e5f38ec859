/** What is wrong with an installation, in one screen. */
import { parsePayloadKeys } from '../../../src/security/keys';
import { readDocument } from '../../docs/tables';
import { runCommand } from '../../support/command-line';
import { provisionRequest } from '../../support/requests';
import { Rig, rigForFile } from '../../support/rig';

const rig = rigForFile();
beforeAll(async () => {
  await (await rig.sagas.provision(provisionRequest())).result();
});

interface Document {
  found: { what: string; is: string; found: string; then?: string }[];
  settings: Record<string, string>;
}

async function doctor(changes: Record<string, string> = {}) {
  const { status, out, err } = await runCommand(['doctor', '--json'], { ...rig.environment, ...changes });
  if (out === '') throw new Error(err);
  const { found, settings } = JSON.parse(out) as Document;
  const of = (is: string) => found.filter((one) => one.is === is).map(({ what }) => what);
  return { status, found, settings, wrong: of('wrong'), ok: of('ok'), out };
}

it('finds nothing wrong where all is there', async () => {
  const { status, wrong, ok } = await doctor();
  expect({ status, wrong }).toEqual({ status: 0, wrong: [] });
  expect(ok).toEqual(
    expect.arrayContaining([
      ...['settings of a worker', 'search attributes', 'workers, for workflows', 'workers, for calls'],
      ...['new sagas', 'journal', 'keys'],
    ]),
  );
  const { out } = await runCommand(['doctor'], rig.environment);
  const { version } = JSON.parse(readDocument('package.json')) as { version: string };
  expect(out).toMatch(new RegExp(`^ok +versions +order-saga ${version}, Node ${process.versions.node}`));
});

it.each([
  ['no Temporal', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, ['Temporal']],
  ['no worker', { TASK_QUEUE: 'nobody' }, ['workers, for workflows', 'workers, for calls']],
  ['a wrong setting', { PROVIDER_TIMEOUT_MS: 'soon' }, ['settings of a worker']],
  ['no journal', { JOURNAL_URL: 'file:/tmp/there-is-none/journal.db' }, ['journal']],
])('says what to do: %s', async (_, changes, expected) => {
  const { status, wrong, found } = await doctor(changes);
  expect({ status, wrong }).toEqual({ status: 2, wrong: expected });
  for (const one of found.filter(({ is }) => is === 'wrong')) expect(one.then).toBeDefined();
});

it('notices keys that are not those of the journal', async () => {
  const payloadKeys = parsePayloadKeys(`ours:${Buffer.alloc(32, 6).toString('base64')}`);
  const sealed = await Rig.start({ payloadKeys });
  try {
    await (await sealed.sagas.provision(provisionRequest())).result();
    const PAYLOAD_KEYS = `ours:${Buffer.alloc(32, 7).toString('base64')}`;
    const { wrong, found } = await doctor({ ...sealed.environment, PAYLOAD_KEYS });
    expect(wrong).toEqual(['keys']);
    expect(found.at(-1)?.then).toBe('set PAYLOAD_KEYS to the keys of the workers');
  } finally {
    await sealed.close();
  }
});

it('prints no secret', async () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const { out, settings } = await doctor({ PAYLOAD_KEYS: `ours:${key}`, PROVIDER_TOKEN: 'a-token-of-ours' });
  expect(settings).toMatchObject({ PAYLOAD_KEYS: '(set)', PROVIDER_TOKEN: '(set)', JOURNAL_URL: '(set)' });
  expect(out).not.toContain(key);
  expect(out).not.toContain('a-token-of-ours');
});
