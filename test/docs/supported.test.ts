/** docs/supported.md against what is pinned. */
import { readCompose } from '../../deploy/compose';
import { serverVersion, uiVersion } from '../../deploy/stack/programs';
import { nodeVersions } from '../../scripts/node-versions';
import { codesIn, tableUnder } from './tables';
import { readDocument } from '../support/project';

const document = readDocument('docs/supported.md');
const nodes = tableUnder(document, 'Node');
const pins = tableUnder(document, 'What is pinned').map((row) => ({
  image: codesIn(row['image']!)[0]!,
  tag: codesIn(row['tag']!)[0]!,
  until: row['maintained until']!,
}));

const project = JSON.parse(readDocument('package.json')) as {
  engines: { node: string };
  devDependencies: Record<string, string>;
};

const inDockerfile = [...readDocument('Dockerfile').matchAll(/^FROM node:([\d.]+)\S*/gm)].map(
  ([, version]) => version!,
);

/** As it stands in docker-compose.yml; our own images have no version of somebody else's. */
const inCompose = [...new Set(Object.values(readCompose().services).map(({ image }) => image))]
  .filter((image) => !image.startsWith('order-saga'))
  .map((image) => ({ image: image.slice(0, image.lastIndexOf(':')), tag: image.slice(image.lastIndexOf(':') + 1) }));

it('has the images of docker-compose.yml and of the Dockerfile, by their tags', () => {
  const listed = pins.map(({ image, tag }) => `${image}:${tag}`);
  const used = [...inCompose.map(({ image, tag }) => `${image}:${tag}`), `node:${inDockerfile[0]!}`];
  expect(listed.sort()).toEqual(used.sort());
  expect(new Set(inDockerfile).size).toBe(1);
});

it('tries the lines that it names: the oldest that runs by all tests, the others by npm run versions', () => {
  const [oldest, ...others] = nodes.map((row) => ({ line: row['line']!, version: codesIn(row['tried']!)[0]! }));
  expect(project.engines.node).toMatch(new RegExp(`^>=${oldest!.line}\\.`));
  expect(project.devDependencies['@types/node']).toMatch(new RegExp(`^${oldest!.line}\\.`));
  expect(others.map(({ version }) => version)).toEqual(nodeVersions);
  for (const { line, version } of others) expect(version.split('.')[0]).toBe(line);
});

it('names the versions of Temporal that tests run on', () => {
  const servers = tableUnder(document, 'Temporal').map((row) => [
    codesIn(row['server']!)[0],
    codesIn(row['Web UI']!)[0],
  ]);
  expect(servers.at(-1)).toEqual([serverVersion, uiVersion]);
  expect(readDocument('scripts/temporal-cli.ts')).toContain(`its server is ${servers[0]![0]!}`);
});
