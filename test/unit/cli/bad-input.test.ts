/** Wrong input is named before any connection is made: these run where there is no Temporal at all. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { runCommand, runHere, startCommand } from '../../support/command-line';
import { listenHere, type Listening } from '../../support/listen-here';

let connections = 0;
let listening: Listening;
let environment: Record<string, string>;
beforeAll(async () => {
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  listening = await listenHere(server);
  environment = { TEMPORAL_ADDRESS: listening.address };
});
afterAll(() => listening.close());

it('names every wrong field and no value', async () => {
  const request = {
    reference: 'has a blank',
    account: 'nobody',
    items: [{ billing_cycle: 5, os_template_id: 'three', password: 'geheim', custom_ssh_key: 'no base64!' }],
    surprise: true,
  };
  const { status, out, err } = await runHere(['provision', '-'], JSON.stringify(request), environment);
  expect(status).toBe(2);
  const ofItem = ['billing_cycle', 'os_template_id', 'custom_ssh_key'].map((field) => `items[0].${field}`);
  for (const field of ['reference', 'account', ...ofItem, 'surprise']) expect(err).toContain(`\n  ${field}: `);
  expect(out).toBe('');
  expect(err).not.toMatch(/geheim|nobody/);
  expect(connections).toBe(0);
});

it('words that nobody reads change no status', async () => {
  const { child, ended } = startCommand(['nonsense'], environment);
  child.stderr.destroy();
  expect(await ended).toMatchObject({ status: 2 });
});

it('a proxy of the environment is not asked for the way to Temporal', async () => {
  const proxy = { https_proxy: `http://${environment['TEMPORAL_ADDRESS']}`, PAYLOAD_ENCRYPTION: 'off' };
  const { status } = await runCommand(['list'], { ...proxy, TEMPORAL_ADDRESS: 'temporal.invalid:7233' });
  expect(status).toBe(3);
  expect(connections).toBe(0);
});

it.each([
  [[], /Usage: order-saga/],
  [['order'], /^error: unknown command 'order'\n+\(--help says what there is\)\n$/],
  [['provision'], /^error: missing required argument 'FILE'\n+\(--help/],
  [['provision', __dirname], /is a directory, not a file\n$/],
  [['provision', `${__filename}.none`], /^there is no file \S+\n$/],
  [['provision', 'a', 'b'], /^error: too many arguments/],
  [['list', '--colour'], /^error: unknown option '--colour'\n/],
  [['list', '--state', 'odd'], /Allowed choices are waiting, running, held, queued, settling, stuck/],
  [['list', '--limit', '-1'], /whole number/],
  [['purchases', '--since', 'yesterday'], /It must be like 2026-11-01/],
  [['purchases', '--until', '2026-11-31'], /It must be like 2026-11-01/],
  [['probe', '--server', '1', '--plan', '2'], /--plan needs --subscription/],
  [['status', 'not a reference'], /reference: must be 1 to 128/],
  [['decide', 'R', 'agree'], /'agree' is invalid for argument 'DECISION'\. Allowed choices are retry, skip/],
  [['decide', 'R', 'skip'], /skip: question: is required.*note: is required/],
  [['decide', 'R', 'skip', '--question', 'q', '--by', 'ann'], /skip: note: is required/],
  [['decide', 'R', 'retry', '--question', 'q'], /retry: by: is required: who you are\. Like \{/],
  [['decide', 'R', 'retry', '{"question":"q","by":" "}'], /retry: by: is required: who you are/],
  [['decide', 'R', 'retry', '{"question":"q","by":"\u200b"}'], /retry: by: is required: who you are/],
  [['decide', 'R', 'retry', '--question', 'q', '--by', ''], /--by <NAME>' argument '' is invalid/],
  [['hold', 'on', '--by', 'ann', '--note', ' …\u200b'], /--note <TEXT>' argument .* is invalid/],
  [['decide', 'R', 'skip', '--note', ' '], /--note <TEXT>' argument ' ' is invalid/],
  [['decide', 'R', 'retry', '{"question":"q","since":1}', '--by', 'ann'], /retry: since: there is no such field/],
  [['decide', 'R', 'retry', '[]', '--by', 'ann'], /retry: must be a JSON object/],
  [['decide', 'R', 'skip', '{note}'], /decision’s JSON.* is not JSON/],
  [['decide', 'R', 'provideServers', '{"vmObjectIds":[0]}'], /vmObjectIds\[0\]: must be/],
])('%j is bad usage', async (args: string[], sentence) => {
  const { status, out, err } = await runHere(args);
  expect(err).toMatch(sentence);
  expect({ status, out }).toEqual({ status: 2, out: '' });
});

it('says its version, and gives examples that can be pasted', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await runHere(['--version'])).toMatchObject({ status: 0, out: `${version}\n` });
  const { out } = await runHere(['--help']);
  expect(out).toMatch(/^ {2}\S.* decide PO-7 retry --question 1bc3a661 --by ann$/m);
});

it('an error is one line of JSON, as what watch prints before it, and names its section', async () => {
  const { out } = await runHere(['watch', 'not a reference', '--json']);
  expect(out).toMatch(/^\{"error":.*"section":"docs\/client\.md#invalidrequesterror".*\}\n$/);
});
