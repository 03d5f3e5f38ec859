/** The images of others that docker-compose.yml and the Dockerfile name, and what a stand-in of each is made of. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolvePrograms, resolveUi, serverVersion, uiVersion } from '../stack/programs';
import { resolveTemporal } from '../../scripts/temporal-cli';
import { run } from './command';
import { readCompose } from '../compose';

export interface Pin {
  /** As it is written, with a digest where there is one. */
  image: string;
  /** Such as `temporalio/server`. */
  repository: string;
  tag: string;
}

export function readPins(): Pin[] {
  const dockerfile = readFileSync(join(__dirname, '..', '..', 'Dockerfile'), 'utf8');
  const bases = [...dockerfile.matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image ?? '');
  const services = Object.values(readCompose().services).map(({ image }) => image);
  return [...new Set([...bases, ...services])].filter((image) => !image.startsWith('order-saga')).map(toPin);
}

function toPin(image: string): Pin {
  const [, repository = '', tag = ''] = /^(.+?):([^:@]+)(?:@.*)?$/.exec(image) ?? [];
  return { image, repository, tag };
}

/** Beside its Dockerfile. */
export interface Recipe {
  /** Under `images/`. */
  folder: string;
  /** Debian’s. */
  suite: string;
  args: Record<string, string>;
  /** Names what `fill` puts in: a change makes the image anew. */
  from: string;
  /** Adds to the build’s context. */
  fill: (context: string) => Promise<void>;
}

/** @returns undefined where there is no package to make it of */
export function recipeFor({ repository, tag }: Pin): Recipe | undefined {
  const bookworm = { suite: 'bookworm', args: {} };
  switch (repository) {
    case 'node':
      return {
        folder: 'node',
        suite: suiteOf(tag),
        args: {},
        from: `${process.arch} npm@${npmVersion}`,
        fill: (to) => addNode(to, versionOf(tag)),
      };
    case 'postgres':
      return postgres(tag);
    case 'temporalio/server':
      return { ...bookworm, folder: 'server', from: serverVersion, fill: (to) => addServer(to) };
    case 'temporalio/admin-tools':
      return { ...bookworm, folder: 'admin-tools', from: serverVersion, fill: (to) => addTools(to) };
    case 'temporalio/ui':
      return { ...bookworm, folder: 'ui', from: uiVersion, fill: (to) => addUi(to) };
    case 'prom/prometheus':
      return { ...bookworm, folder: 'prometheus', from: 'Debian', fill: () => Promise.resolve() };
    default:
      return undefined;
  }
}

/** As the line 24 of Node has it. */
const npmVersion = '11';

const suiteOf = (tag: string) => /-(bookworm|trixie)\b/.exec(tag)?.[1] ?? 'bookworm';
const versionOf = (tag: string) => tag.split('-')[0] ?? '';

/** Which of Debian’s releases has which major version. */
const suiteWithPostgres: Record<string, string> = { 15: 'bookworm', 17: 'trixie' };

function postgres(tag: string): Recipe | undefined {
  const major = /^\d+/.exec(tag)?.[0] ?? '';
  const suite = suiteWithPostgres[major];
  if (suite === undefined) return undefined;
  // From 18 on the image keeps each major version in a folder of its own.
  const isNew = Number(major) >= 18;
  const args = {
    MAJOR: major,
    DATA: isNew ? `/var/lib/postgresql/${major}/docker` : '/var/lib/postgresql/data',
    VOLUME: isNew ? '/var/lib/postgresql' : '/var/lib/postgresql/data',
  };
  return { folder: 'postgres', suite, args, from: 'Debian', fill: () => Promise.resolve() };
}

async function addNode(context: string, version: string): Promise<void> {
  const [made, usr, machine] = ['npm', 'usr', 'machine'].map((name) => join(context, name)) as [string, string, string];
  for (const folder of [made, join(usr, 'bin'), join(usr, 'lib', 'node_modules'), machine])
    mkdirSync(folder, { recursive: true });
  const program = `node-linux-${process.arch}`;
  const packages = [`${program}@${version}`, `npm@${npmVersion}`];
  await run('npm', ['install', '--prefix', made, '--no-save', '--no-audit', '--no-fund', ...packages]);
  cpSync(join(made, 'node_modules', program, 'bin', 'node'), join(usr, 'bin', 'node'));
  cpSync(join(made, 'node_modules', 'npm'), join(usr, 'lib', 'node_modules', 'npm'), { recursive: true });
  rmSync(made, { recursive: true });
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry']);
  writeFileSync(join(machine, 'npmrc'), `registry=${registry.trim()}\ncafile=/usr/local/etc/certificates.pem\n`);
  writeFileSync(join(machine, 'certificates.pem'), readFileSync(authorities));
}

/** Whom this machine trusts. */
const authorities = '/etc/ssl/certs/ca-certificates.crt';

async function addServer(context: string): Promise<void> {
  const { temporal } = await resolvePrograms();
  cpSync(join(temporal, 'temporal-server'), join(context, 'temporal-server'));
  // From 1.30 on it has its configuration in itself.
  const [config, into] = [join(temporal, 'config'), join(context, 'config')];
  if (existsSync(config)) cpSync(config, into, { recursive: true });
  else mkdirSync(into);
}

async function addTools(context: string): Promise<void> {
  const { temporal } = await resolvePrograms();
  cpSync(join(temporal, 'temporal-sql-tool'), join(context, 'temporal-sql-tool'));
  const cli = await resolveTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' } });
  if (cli.kind === 'cli') cpSync(cli.path, join(context, 'temporal'));
}

async function addUi(context: string): Promise<void> {
  const folder = await resolveUi();
  for (const name of ['temporal-ui-server', 'config'])
    cpSync(join(folder, name), join(context, name), { recursive: true });
}
