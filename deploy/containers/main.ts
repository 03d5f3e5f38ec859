/**
 * Brings docker-compose.yml up on a real engine, and looks whether it does what it says:
 *
 *   npm run containers                       everything
 *   npm run containers -- --only crashes     some of it, after the first start; may be repeated
 *
 * The last line counts what held and what did not; the status is 1 where something did not. What it needs, and what
 * stand-ins of images cannot show: docs/internals/decisions.md#stand-ins-of-images.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { alone, cacheFolder } from '../../scripts/program-cache';
import { Checks, type Context } from './checks';
import { NoContainersError, provideCompose, startEngine } from './engine';
import { provideImages } from './images';
import { again } from './looks/again';
import { crashes } from './looks/crashes';
import { first } from './looks/first';
import { metrics } from './looks/metrics';
import { web } from './looks/web';
import { wrong } from './looks/wrong';
import { Project } from './project';

/** In this order: each finds everything up, and leaves it so. */
const looks: Record<string, (context: Context) => Promise<void>> = {
  ...{ first, web, crashes, again, metrics, wrong },
};

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
  const wanted = values.only ?? Object.keys(looks);
  const unknown = wanted.filter((name) => !(name in looks));
  if (unknown.length > 0)
    throw new NoContainersError(`there is no ${unknown.join(', ')}; there are ${Object.keys(looks).join(', ')}`);
  mkdirSync(cacheFolder(), { recursive: true });
  // One at a time: docker-compose.yml publishes fixed ports, and our engine keeps its images in one place.
  return alone(join(cacheFolder(), 'containers.lock'), async () => {
    const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => {
      throw new NoContainersError('interrupted');
    });
    const cleanUp: CleanUp[] = [];
    try {
      return await Promise.race([interrupted, onEngine(new Set(['first', ...wanted]), cleanUp)]);
    } finally {
      for (const step of cleanUp.reverse()) await step();
    }
  });
}

type CleanUp = () => Promise<void> | void;

/** @param cleanUp gets what is to be done at the end, in the order in which it became necessary */
async function onEngine(wanted: ReadonlySet<string>, cleanUp: CleanUp[]): Promise<number> {
  const engine = await startEngine();
  cleanUp.push(engine.stop);
  const composeEnv = await provideCompose(engine.env);
  const images = await provideImages(engine);
  cleanUp.push(images.release);
  console.log(`engine:    ${engine.name}`);
  console.log(`pulled:    ${images.pulled.join(', ') || 'none'}`);
  console.log(`stand-ins: ${images.standIns.join(', ') || 'none'}`);
  console.log(`neither:   ${images.missing.join(', ') || 'none'}`);
  const project = await Project.copy(engine, composeEnv, images.standIns.length > 0);
  cleanUp.push(() => project.remove());
  const checks = new Checks();
  await lookAt({ checks, project, images }, wanted);
  return checks.sum();
}

async function lookAt(context: Context, wanted: ReadonlySet<string>): Promise<void> {
  for (const [name, look] of Object.entries(looks)) {
    if (!wanted.has(name)) continue;
    try {
      await look(context);
    } catch (error) {
      await context.checks.check(`what is looked at as ${name}`, () => {
        throw error;
      });
    }
    // Without it there is nothing to look at.
    if (name === 'first' && context.checks.hasFailed) return;
  }
}

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    console.error(error instanceof NoContainersError ? error.message : error);
    process.exit(1);
  },
);
