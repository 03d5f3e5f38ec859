/** What workers say of their keys decides whether a client may send. */
import type { Client } from '@temporalio/client';
import { KeysDifferError } from '../../../src/client/errors';
import { declareSender, pollersOf, requireSharedKeys } from '../../../src/client/workers';
import { createDataConverter } from '../../../src/security/data-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { describeWorker, readWorker } from '../../../src/temporal/worker-identity';

const key = Buffer.alloc(32, 1).toString('base64');
const here = '127.0.0.1:7233';
const elsewhere = 'temporal.example:7233';

function clientTo(address: string, keys: string | undefined, workers: readonly string[], allowClear = false): Client {
  const { payloadCodecs } = createDataConverter(keys === undefined ? undefined : parsePayloadKeys(`${keys}:${key}`));
  const pollers = workers.map((said) => ({ identity: `1@host keys=${said} profile=` }));
  const client = {
    options: { namespace: 'n', loadedDataConverter: { payloadCodecs } },
    connection: { options: { address } },
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
  } as unknown as Client;
  declareSender(client, { taskQueue: 'q', allowClear });
  return client;
}

it.each<[string, string, string | undefined, string[]]>([
  ['its key is one of a worker', elsewhere, 'b', ['a', 'a,b']],
  ['a worker reads its keys from a file, and may have it by now', elsewhere, 'b', ['a,*']],
  ['nobody polls, and it encrypts', elsewhere, 'b', []],
  ['neither it nor a worker has keys', elsewhere, undefined, ['']],
  ['it has none, nobody polls, and the server is here', here, undefined, []],
])('a client sends where %s', async (_, address, keys, workers) => {
  await expect(requireSharedKeys(clientTo(address, keys, workers))).resolves.toBeUndefined();
});

it.each<[string, string, string | undefined, string[]]>([
  ['no worker has its key', here, 'b', ['a']],
  ['it encrypts, and workers do not', here, 'b', ['']],
  ['it has none, and workers do', here, undefined, ['a', 'a,*']],
  ['it has none, nobody polls, and the server is elsewhere', elsewhere, undefined, []],
])('a client sends nothing where %s', async (_, address, keys, workers) => {
  await expect(requireSharedKeys(clientTo(address, keys, workers))).rejects.toBeInstanceOf(KeysDifferError);
  const allowed = requireSharedKeys(clientTo(address, keys, workers, true));
  await (keys === undefined ? allowed : expect(allowed).rejects.toBeInstanceOf(KeysDifferError));
});

it('a worker that has stopped is a poller for minutes, and counts for one', async () => {
  const client = clientTo(here, 'a', ['a', 'b', 'c']);
  const ago = [1, 60, 70].map((seconds) => ({ seconds: Math.floor(Date.now() / 1000) - seconds }));
  const { pollers } = await client.workflowService.describeTaskQueue({});
  pollers.forEach((poller, nth) => Object.assign(poller, { lastAccessTime: ago[nth] }));
  expect(await pollersOf(client, 'q', 65_000)).toMatchObject({
    workflows: 2,
    calls: 2,
    workers: [{ keys: ['a'] }, { keys: ['b'] }],
  });
  expect(await pollersOf(client, 'q')).toMatchObject({ workflows: 3, calls: 3 });
});

it('a worker’s identity is read as it was written', () => {
  for (const change of [true, false]) {
    for (const keys of [[], ['a'], ['2026-11', 'b.c_d']]) {
      const worker = { process: '1@host', keys, change, profile: change ? '9f86d081' : undefined };
      expect(readWorker(describeWorker(worker))).toEqual(worker);
    }
  }
  expect(readWorker('1@host')).toBeUndefined();
});
