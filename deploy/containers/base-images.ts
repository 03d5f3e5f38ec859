/**
 * The pinned images: pulled, or where no registry can be reached, stood in for. A stand-in is made of packages (Debian,
 * npm, Go modules) by `images/…/Dockerfile` and gets the pinned name; docs/decisions/0033 says what it shows and what
 * it cannot.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath } from '../../scripts/program-cache';
import { attempt, run } from './command';
import { NoContainersError, type Engine } from './engine';
import { recipeFor, type Pin, type Recipe } from './recipes';

/** A registry answers within seconds, or is not there; the image itself may take minutes. */
const pullMaxMs = 15 * 60_000;
const prefix = 'order-saga-stand-in';
const label = 'order-saga.recipe';

export interface BaseImages {
  pulled: Pin[];
  standIns: Pin[];
  /** There is neither a registry nor a recipe. */
  missing: Pin[];
  /**
   * Takes the pinned names from the stand-ins again: on an engine of somebody else’s they would be taken for the real
   * ones.
   */
  release: () => Promise<void>;
}

/** @throws NoContainersError */
export async function provideImages(engine: Engine, pins: readonly Pin[]): Promise<BaseImages> {
  const [pulled, standIns, missing]: [Pin[], Pin[], Pin[]] = [[], [], []];
  let isRegistryThere = true;
  for (const pin of pins) {
    if (isRegistryThere && (await isPulled(engine, pin))) {
      pulled.push(pin);
      continue;
    }
    // One question is enough: names are looked up patiently, for each image again.
    isRegistryThere = pulled.length > 0;
    const recipe = recipeFor(pin);
    if (recipe === undefined) {
      missing.push(pin);
      continue;
    }
    await standIn(engine, pin, recipe);
    standIns.push(pin);
  }
  const release = async () => {
    if (!engine.isOurs)
      for (const { image } of standIns) await engine.docker(['rmi', '--no-prune', withoutDigest(image)]);
  };
  return { pulled, standIns, missing, release };
}

/** A stand-in has no digest of the registry’s. */
export function withoutDigest(image: string): string {
  return image.replace(/@sha256:\w+/, '');
}

async function isPulled(engine: Engine, { image }: Pin): Promise<boolean> {
  const there = await labelOf(engine, image);
  if (there !== undefined && ['', '<no value>'].includes(there)) return true;
  return engine.docker(['pull', '--quiet', image], { withinMs: pullMaxMs }).then(
    () => true,
    () => false,
  );
}

async function standIn(engine: Engine, { image, repository, tag }: Pin, recipe: Recipe): Promise<void> {
  const own = `${prefix}/${repository}:${tag}`;
  const folder = join(__dirname, 'images', recipe.folder);
  const wanted = digestOf(folder, recipe);
  if ((await labelOf(engine, own)) !== wanted) {
    process.stderr.write(`making a stand-in of ${image}…\n`);
    await provideDebian(engine, recipe.suite);
    const context = mkdtempSync(join(tmpdir(), 'order-saga-image-'));
    try {
      cpSync(folder, context, { recursive: true });
      await recipe.fill(context);
      const args = Object.entries({ SUITE: recipe.suite, ...recipe.args }).flatMap(([name, value]) => [
        '--build-arg',
        `${name}=${value}`,
      ]);
      const labels = ['--label', `${label}=${wanted}`];
      await engine.docker(['build', '--quiet', '--network', 'host', ...labels, ...args, '--tag', own, context]);
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  }
  await engine.docker(['tag', own, withoutDigest(image)]);
}

/** A minimal Debian, as Debian’s own tool makes it. @throws NoContainersError */
async function provideDebian({ docker, env }: Engine, suite: string): Promise<void> {
  const image = `${prefix}/debian:${suite}`;
  if ((await attempt('docker', ['image', 'inspect', image], { env })).status === 0) return;
  if (onPath('debootstrap', process.env) === undefined || process.getuid?.() !== 0)
    throw new NoContainersError(
      'no image can be pulled, and a stand-in needs root and `debootstrap` (Debian: the package debootstrap)',
    );
  process.stderr.write(`installing a minimal Debian ${suite} (once, about a minute)…\n`);
  const root = mkdtempSync(join(tmpdir(), 'order-saga-debian-'));
  try {
    await run('debootstrap', ['--variant=minbase', suite, root]);
    await run('tar', ['--directory', root, '--create', '--file', `${root}.tar`, '.']);
    await docker(['import', `${root}.tar`, image]);
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

/** Of all that the image is made of. */
function digestOf(folder: string, { suite, args, from }: Recipe): string {
  const hash = createHash('sha256').update(JSON.stringify([suite, args, from]));
  for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest('hex');
}
