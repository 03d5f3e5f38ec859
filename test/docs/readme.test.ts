/** The documents show and point at what is there. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as client from '../../src/client';
import { requestSchemas } from '../../src/domain/requests';
import { workflowIdOf, workflowNames } from '../../src/domain/identity';
import { check } from '../../src/domain/validation';
import { tableUnder } from './tables';
import { projectFolder, readDocument } from '../support/project';

const readme = readDocument('README.md');

it('shows the backend example that is compiled beside this test', () => {
  const [, block = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(block.replaceAll("'order-saga-client'", "'../../src/client'")).toBe(
    readDocument('test/docs/backend-example.ts'),
  );
});

it('names every workflow and its id', () => {
  const rows = tableUnder(readme, 'One picture').map((row) => [row['workflow'], row['workflow id']]);
  for (const [workflow, id] of rows) {
    const name = workflowNames.find((known) => `\`${known}\`` === workflow)!;
    expect(id).toBe(`\`${workflowIdOf(name, '')}<reference>\``);
  }
  expect(workflowNames.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

it.each([
  ['provision', 'provisionServers'],
  ['change', 'changeOrder'],
  ['switch', 'switchPlan'],
  ['firewalls', 'setFirewalls'],
] as const)('examples/%s.json is a request of %s, in a workflow too', (file, workflow) => {
  // A workflow's sandbox has no atob, by which the schema library would look at base64.
  const { atob } = globalThis;
  Reflect.deleteProperty(globalThis, 'atob');
  const request: unknown = JSON.parse(readDocument(`examples/${file}.json`));
  expect(check<unknown>(requestSchemas()[workflow](), request)).toMatchObject({ ok: true });
  globalThis.atob = atob;
});

const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: projectFolder, encoding: 'utf8' })
  .trim()
  .split('\n');

/** As GitHub makes them of headings; what stands in a block of code is no heading. */
function anchorsOf(document: string): Set<string> {
  const headings = document.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

const { scripts } = JSON.parse(readDocument('package.json')) as { scripts: Record<string, string> };
const tests = execFileSync('git', ['ls-files', 'test'], { cwd: projectFolder, encoding: 'utf8' });

it.each(documents)(
  '%s points at nothing that is not there, names no such file, test or command, and has whole tables',
  (path) => {
    const document = readDocument(path);
    const all = (pattern: RegExp) => [...document.matchAll(pattern)];
    const lost = all(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g).filter(([, link = '', anchor]) => {
      const target = link === '' ? path : join(dirname(path), link);
      if (!existsSync(join(projectFolder, target))) return true;
      return anchor !== undefined && !anchorsOf(readDocument(target)).has(anchor);
    });
    expect(lost.map(([whole]) => whole)).toEqual([]);
    const files = all(/`((?:src|sandbox|scripts|test|docs|examples)\/[\w./-]*)`/g).map(([, name]) => name!);
    const isThere = (name: string) =>
      [name, `${name}.ts`, `${name}.test.ts`].some((file) => existsSync(join(projectFolder, file)));
    expect(files.filter((name) => !isThere(name))).toEqual([]);
    const asked = all(/npx jest ([^`\n#]*)/g).flatMap(([, words = '']) => words.split(/ -|\s+/));
    const paths = asked.filter((word) => /^[\w./-]*\/[\w./-]*$/.test(word));
    expect(paths.filter((word) => !tests.includes(word))).toEqual([]);
    const commands = all(/npm run (?:-s )?([\w-]+)/g).map(([, name]) => name!);
    expect(commands.filter((name) => scripts[name] === undefined)).toEqual([]);
    expect(document.match(/\n\n\|[^\n]*\|\n(?!\| ?:?-)/g)).toBeNull();
  },
);

it('each error of the client names the section that explains it', () => {
  const sections = Object.entries(client).flatMap(([name, found]) =>
    name.endsWith('Error') && name !== 'OrderSagaError' ? [(found.prototype as client.OrderSagaError).section] : [],
  );
  expect(sections.length).toBeGreaterThan(10);
  const explained = [...anchorsOf(readDocument('docs/client.md'))].map((anchor) => `docs/client.md#${anchor}`);
  expect(sections.filter((section) => !explained.includes(section))).toEqual([]);
});

it('the sources point at pages and anchors that are there', () => {
  const places = 'src scripts deploy bench sandbox spec mutation test .ci docker-compose.yml'.split(' ');
  const pattern = 'docs/(internals/)?[a-z-]+[.]md(#[a-z-]+)?';
  const found = execFileSync('git', ['grep', '-hoE', pattern, '--', ...places], {
    cwd: projectFolder,
    encoding: 'utf8',
  });
  const named = [...new Set(found.trim().split('\n'))];
  expect(named.length).toBeGreaterThan(20);
  const missing = named.filter((name) => {
    const [path = '', anchor] = name.split('#');
    return !documents.includes(path) || (anchor !== undefined && !anchorsOf(readDocument(path)).has(anchor));
  });
  expect(missing).toEqual([]);
});
