/**
 * Brings docker-compose.yml up on a real engine, and looks whether it does what it says:
 *
 *   npm run containers                  everything
 *   npm run containers -- --only crashes    some of it (first, settings, hardened, crashes, again, metrics, wrong)
 *
 * The last line counts what held and what did not; the status is 1 where something did not.
 */
import { parseArgs } from 'node:util';
import { provideImages } from './base-images';
import { Checks } from './checks';
import { resolveCompose } from './compose-program';
import { NoContainersError, startEngine, type Engine } from './engine';
import { readPins } from './pins';
import { Project } from './project';
import { looks, type Look } from './looks';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
  const wanted = values.only ?? Object.keys(looks);
  for (const name of wanted)
    if (!(name in looks))
      throw new NoContainersError(`there is no ${name}; there are ${Object.keys(looks).join(', ')}`);
  const engine = await startEngine();
  try {
    return await onEngine(
      engine,
      wanted.map((name) => looks[name] as Look),
    );
  } finally {
    await engine.stop();
  }
}

async function onEngine(engine: Engine, wanted: readonly Look[]): Promise<number> {
  const compose = await resolveCompose(engine.env);
  const images = await provideImages(engine, readPins());
  const list = (pins: { image: string }[]) => pins.map(({ image }) => image).join(', ') || 'none';
  console.log(
    `on ${engine.name}; pulled: ${list(images.pulled)}; stand-ins: ${list(images.standIns)}; left out: ${list(images.missing)}`,
  );
  const project = await Project.copy(engine, compose, images.standIns.length > 0);
  const checks = new Checks();
  try {
    for (const look of wanted) await look({ checks, project, images });
  } finally {
    await project.remove();
    await images.release();
  }
  return checks.sum();
}

main().then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    console.error(error instanceof NoContainersError ? error.message : error);
    process.exitCode = 1;
  },
);
