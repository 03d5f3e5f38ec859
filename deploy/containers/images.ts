/**
 * The images of others that docker-compose.yml and the Dockerfile name: pulled, or where no registry can be reached,
 * stood in for. A stand-in is made of packages (Debian, npm, Go modules) by `images/…/Dockerfile` and gets the pinned
 * name; docs/internals/decisions.md#stand-ins-of-images says what it shows and what it cannot.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath } from '../../scripts/program-cache';
import { resolveCli } from '../../scripts/temporal-cli';
import { readCompose } from '../compose';
import { resolvePrograms, resolveUi } from '../stack/programs';
import { attempt, run } from './command';
import { NoContainersError, type Engine } from './engine';

/** A registry answers within seconds, or is not there; the image itself may take minutes. */
const pullMaxMs = 15 * 60_000;
const debian = 'bookworm';
const label = 'order-saga.recipe';

interface Recipe {
  /** The image's name begins so, as far as the recipe is for it: Debian has this major version of PostgreSQL. */
  of: string;
  /** Under `images/`, with its Dockerfile. */
  folder: string;
  /** Adds to the build's context. */
  fill?: (context: string, image: string) => Promise<void>;
}

/** There is none for Grafana: no package has it. */
const recipes: readonly Recipe[] = [
  { of: 'node:', folder: 'node', fill: addNode },
  { of: 'postgres:15', folder: 'postgres' },
  { of: 'temporalio/server:', folder: 'server', fill: addServer },
  { of: 'temporalio/admin-tools:', folder: 'admin-tools', fill: addTools },
  { of: 'temporalio/ui:', folder: 'ui', fill: addUi },
  { of: 'prom/prometheus:', folder: 'prometheus' },
  { of: 'prom/alertmanager:', folder: 'alertmanager' },
];

/** By their pinned names. */
export interface Images {
  pulled: string[];
  standIns: string[];
  /** There is neither a registry nor a recipe. */
  missing: string[];
  /**
   * Takes the pinned names from the stand-ins again: on an engine of somebody else's they would be taken for the real
   * ones.
   */
  release: () => Promise<void>;
}

/** @throws NoContainersError */
export async function provideImages(engine: Engine): Promise<Images> {
  const [pulled, standIns, missing]: [string[], string[], string[]] = [[], [], []];
  let isRegistryThere = true;
  for (const image of pinnedImages()) {
    if (isRegistryThere && (await isPulled(engine, image))) {
      pulled.push(image);
      continue;
    }
    // One question is enough: names are looked up patiently, for each image again.
    isRegistryThere = pulled.length > 0;
    const recipe = recipes.find(({ of }) => image.startsWith(of));
    if (recipe) await standIn(engine, image, recipe);
    (recipe ? standIns : missing).push(image);
  }
  const release = async () => {
    if (!engine.isOurs) for (const image of standIns) await engine.docker(['rmi', '--no-prune', withoutDigest(image)]);
  };
  return { pulled, standIns, missing, release };
}

function pinnedImages(): string[] {
  const dockerfile = readFileSync(join(__dirname, '..', '..', 'Dockerfile'), 'utf8');
  const bases = [...dockerfile.matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image ?? '');
  const services = Object.values(readCompose().services).map(({ image }) => image);
  return [...new Set([...bases, ...services])].filter((image) => !image.startsWith('order-saga'));
}

/** A stand-in has no digest of the registry's. */
export function withoutDigest(image: string): string {
  return image.replace(/@sha256:\w+/, '');
}

async function isPulled(engine: Engine, image: string): Promise<boolean> {
  const there = await labelOf(engine, image);
  if (there !== undefined && ['', '<no value>'].includes(there)) return true;
  return engine.docker(['pull', '--quiet', image], { withinMs: pullMaxMs }).then(
    () => true,
    () => false,
  );
}

async function standIn(engine: Engine, image: string, { folder, fill }: Recipe): Promise<void> {
  const own = `order-saga-stand-in/${folder}`;
  const source = join(__dirname, 'images', folder);
  const hash = createHash('sha256').update(image);
  for (const file of readdirSync(source).sort()) hash.update(readFileSync(join(source, file)));
  const wanted = hash.digest('hex');
  if ((await labelOf(engine, own)) !== wanted) {
    process.stderr.write(`making a stand-in of ${image}…\n`);
    await provideDebian(engine);
    const context = mkdtempSync(join(tmpdir(), 'order-saga-image-'));
    try {
      cpSync(source, context, { recursive: true });
      await fill?.(context, image);
      const build = ['build', '--quiet', '--network', 'host', '--label', `${label}=${wanted}`, '--tag', own];
      await engine.docker([...build, context]);
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  }
  await engine.docker(['tag', own, withoutDigest(image)]);
}

/** A minimal Debian, as Debian's own tool makes it. @throws NoContainersError */
async function provideDebian(engine: Engine): Promise<void> {
  const image = `order-saga-stand-in/debian:${debian}`;
  if ((await labelOf(engine, image)) !== undefined) return;
  if (onPath('debootstrap', process.env) === undefined || process.getuid?.() !== 0)
    throw new NoContainersError(
      'no image can be pulled, and a stand-in needs root and `debootstrap` (Debian: the package debootstrap)',
    );
  process.stderr.write(`installing a minimal Debian ${debian} (once, about a minute)…\n`);
  const root = mkdtempSync(join(tmpdir(), 'order-saga-debian-'));
  try {
    await run('debootstrap', ['--variant=minbase', debian, root]);
    await run('tar', ['--directory', root, '--create', '--file', `${root}.tar`, '.']);
    await engine.docker(['import', `${root}.tar`, image]);
  } finally {
    rmSync(root, { recursive: true, force: true });
    rmSync(`${root}.tar`, { force: true });
  }
}

/** @returns undefined where there is no such image */
async function labelOf({ env }: Engine, image: string): Promise<string | undefined> {
  const format = `{{index .Config.Labels "${label}"}}`;
  const said = await attempt('docker', ['image', 'inspect', '--format', format, image], { env });
  return said.status === 0 ? said.stdout.trim() : undefined;
}

async function addNode(context: string, image: string): Promise<void> {
  const program = `node-linux-${process.arch}`;
  const version = /:([\d.]+)/.exec(image)?.[1] ?? '';
  const [made, usr] = [join(context, 'made'), join(context, 'usr')];
  // The major version of npm is the one that comes with the line 24 of Node.
  const packages = [`${program}@${version}`, 'npm@11'];
  mkdirSync(made);
  await run('npm', ['install', '--prefix', made, '--no-save', '--no-audit', '--no-fund', ...packages]);
  cpSync(join(made, 'node_modules', program, 'bin', 'node'), join(usr, 'bin', 'node'));
  cpSync(join(made, 'node_modules', 'npm'), join(usr, 'lib', 'node_modules', 'npm'), { recursive: true });
  rmSync(made, { recursive: true });
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry']);
  const npmrc = `registry=${registry.trim()}\ncafile=/usr/local/etc/certificates.pem\n`;
  mkdirSync(join(context, 'machine'));
  writeFileSync(join(context, 'machine', 'npmrc'), npmrc);
  // Whom this machine trusts.
  cpSync('/etc/ssl/certs/ca-certificates.crt', join(context, 'machine', 'certificates.pem'));
}

async function addServer(context: string): Promise<void> {
  const { temporal } = await resolvePrograms();
  cpSync(join(temporal, 'temporal-server'), join(context, 'temporal-server'));
}

async function addTools(context: string): Promise<void> {
  const { temporal } = await resolvePrograms();
  cpSync(join(temporal, 'temporal-sql-tool'), join(context, 'temporal-sql-tool'));
  cpSync(await resolveCli(), join(context, 'temporal'));
}

async function addUi(context: string): Promise<void> {
  const folder = await resolveUi();
  for (const name of ['temporal-ui-server', 'config'])
    cpSync(join(folder, name), join(context, name), { recursive: true });
}
