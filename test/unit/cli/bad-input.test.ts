/** What is wrong with the input is told before any connection is made: these run where there is no Temporal at all. */
import { createServer, type AddressInfo, type Server } from 'node:net';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, runHere } from '../../support/command-line';

let folder: string;
let server: Server;
let connections = 0;
let environment: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'order-saga-input-'));
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  environment = { TEMPORAL_ADDRESS: `127.0.0.1:${String((server.address() as AddressInfo).port)}` };
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

async function fileWith(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

it('names every wrong field and no value', async () => {
  const request = {
    reference: 'has a blank',
    account: 'nobody',
    items: [{ billing_cycle: 5, os_template_id: 'three', password: 'geheim', custom_ssh_key: 'no base64!' }],
    surprise: true,
  };
  const { status, out, err } = await runCommand(['provision', '-'], environment, JSON.stringify(request));
  expect(status).toBe(2);
  const lines = [
    'reference',
    'account',
    'items[0].billing_cycle',
    'items[0].os_template_id',
    'items[0].custom_ssh_key',
  ];
  for (const field of [...lines, 'surprise']) expect(err).toContain(`\n  ${field}: `);
  expect(out).toBe('');
  expect(err).not.toMatch(/geheim|nobody/);
  expect(connections).toBe(0);
});

describe('a file', () => {
  it.each([
    ['missing', /there is no file/],
    ['empty', /is empty/],
    ['broken', /is not JSON: line 1, column 22/],
    ['folder', /is a directory/],
    ['huge', /too long/],
  ])('that is %s is told in one sentence', async (kind, sentence) => {
    const paths: Record<string, () => Promise<string>> = {
      missing: () => Promise.resolve(join(folder, 'missing.json')),
      empty: () => fileWith('empty.json', ''),
      broken: () => fileWith('broken.json', '{"password":"geheim" x}'),
      folder: () => Promise.resolve(folder),
      huge: async () => {
        const path = await fileWith('huge.json', '');
        await truncate(path, 50 * 1024 * 1024);
        return path;
      },
    };
    const { status, out, err } = await runHere(['provision', (await paths[kind]?.()) ?? '']);
    expect(err).toMatch(sentence);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(err).not.toContain('geheim');
    expect({ status, out }).toEqual({ status: 2, out: '' });
  });
});

it.each([
  [[], /Usage: order-saga/],
  [['order'], /unknown command 'order'[^]*Usage/],
  [['provision'], /missing required argument 'FILE'[^]*Usage: order-saga provision/],
  [['provision', 'a', 'b'], /too many arguments[^]*Usage/],
  [['list', '--colour'], /unknown option '--colour'[^]*Usage/],
  [['list', '--state', 'odd'], /Allowed choices are waiting, running, held, queued, settling, stuck/],
  [['list', '--limit', '-1'], /whole number/],
  [['status', 'not a reference'], /reference: must be 1 to 128/],
  [['decide', 'R', 'agree'], /there is no decision agree; there are retry, skip/],
  [['decide', 'R', 'skip'], /skip: question: is required.*note: is required/],
  [['decide', 'R', 'skip', '{note}'], /decision’s JSON.* is not JSON/],
  [['decide', 'R', 'provideServers', '{"vmObjectIds":[0]}'], /vmObjectIds\[0\]: must be/],
])('%j is bad usage', async (args: string[], sentence) => {
  const { status, out, err } = await runHere(args);
  expect(err).toMatch(sentence);
  expect({ status, out }).toEqual({ status: 2, out: '' });
});
