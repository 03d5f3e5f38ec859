import { readWorkerConfig, type Environment } from '../../../src/config';
import { folderForFile } from '../../support/folder';
import * as settings from '../../support/settings';

const { write } = folderForFile();
const base = { PROVIDER_BASE_URL: 'https://provider.example' };
const ops = { name: 'ops', url: 'https://ops.example/hooks/T0KEN-IN-PATH', secret: 'webhook-ops' };
const pager = { name: 'pager', format: 'pagerduty', secret: 'webhook-pagerduty' };
const read = (env: Environment) => readWorkerConfig({ ...base, ...env }).activities.notifications!;
const problemsOf = (env: Environment) => settings.problemsOf(read, env);
const inline = (...routes: unknown[]) => ({ NOTIFICATION_ROUTES: JSON.stringify(routes) });

it('are none by default', () => {
  expect(read({})).toMatchObject({ routes: [], allowed: [], timeoutMs: 10_000 });
});

it('come inline or from a file', () => {
  const slack = { name: 'chat', format: 'slack', secret: 'webhook-slack' };
  expect(read(inline(ops, pager, slack)).routes).toEqual([ops, pager, slack]);
  const NOTIFICATION_ROUTES_FILE = write('routes.json', JSON.stringify([ops]));
  expect(read({ NOTIFICATION_ROUTES_FILE }).routes).toEqual([ops]);
});

it.each<[string, unknown, RegExp]>([
  ['no list', ops, /^NOTIFICATION_ROUTES: must be a JSON list of routes$/],
  ['a field too many', [{ ...ops, headers: {} }], /^NOTIFICATION_ROUTES\[0\].headers: there is no such field$/],
  ['no address', [{ ...ops, url: 'ops' }], /^NOTIFICATION_ROUTES\[0\].url: must be an https/],
  ['another scheme', [{ ...ops, url: 'ftp://ops.example/T0KEN-IN-PATH' }], /url: must be an https/],
  ['a password in it', [{ ...ops, url: 'https://u:T0KEN-IN-PATH@ops.example' }], /must have no user and no password/],
  ['http', [{ ...ops, url: 'http://ops.example/' }], /the url of ops must be https: \(http: only with/],
  ['a secret itself', [{ ...ops, secret: 'whsec_T0KEN-IN-PATH+/=' }], /secret: must be the name of a secret that/],
  ['a secret that a request may name', [{ ...ops, secret: 'ops' }], /\[0\].secret: .* begins with webhook-/],
  ['one name twice', [ops, ops], /must have different names/],
  ['a name of two words', [{ ...ops, name: 'my ops' }], /name: must be 1 to 32/],
  ['no kind at all', [{ ...ops, kinds: [] }], /kinds: must not be empty; leave it out for all/],
  ['no address of a webhook', [{ ...ops, url: undefined }], /\[0\].url: must be an https/],
  ['Slack’s address outside of the secret', [{ ...ops, format: 'slack' }], /\[0\].url: must be left out/],
  ['a pager that is not told the end', [{ ...pager, events: ['waiting'] }], /\[0\].events: must be left out/],
  ['an unknown format', [{ ...ops, format: 'email' }], /\[0\].format: /],
  ['a routing key itself', [{ ...pager, secret: 'T0KEN-IN-PATH' }], /secret: must be the name of a secret that/],
  ['an unknown kind', [{ ...ops, kinds: ['stucked'] }], /kinds\[0\]/],
])('are refused with %s, in sentences without the address', (_what, routes, sentence) => {
  const problems = problemsOf({ NOTIFICATION_ROUTES: JSON.stringify(routes) });
  expect(problems).toContainEqual(expect.stringMatching(sentence));
  expect(problems.join()).not.toContain('T0KEN-IN-PATH');
});

it('are refused where they are no JSON, which is not repeated', () => {
  expect(problemsOf({ NOTIFICATION_ROUTES: 'https://T0KEN' })).toEqual([
    expect.stringMatching(/must be like \[\{"name"/),
  ]);
});

it('may go to http where that is allowed', () => {
  const routes = inline({ ...ops, url: 'http://ops.example/' });
  expect(problemsOf({ ...routes, NOTIFICATION_ALLOW_HTTP: 'true' })).toEqual([]);
});

it('may go inside to hosts, addresses and ranges, and nothing else is taken for one', () => {
  const { allowed } = read({ NOTIFICATION_ALLOW: 'Hooks.internal, 10.1.2.3,10.1.0.0/16,fd00::/8,::1' });
  expect(allowed).toEqual(['hooks.internal', '10.1.2.3', '10.1.0.0/16', 'fd00::/8', '::1']);
  for (const wrong of ['10.1.0.0/33', '10.1.0', '*', 'https://hooks.internal', 'hooks internal', '10.1.2.3.4', '/8']) {
    const sentence = expect.stringMatching(/^NOTIFICATION_ALLOW: must be host names/) as string;
    expect(problemsOf({ NOTIFICATION_ALLOW: wrong })).toEqual([sentence]);
  }
});
