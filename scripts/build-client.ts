/**
 * Makes `packages/client/dist`, which is what `npm pack` puts into the package: the client of `src/client` and what it
 * needs, compiled as for the service; an ES module that hands on the same objects; and the schemas.
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as client from '../src/client/index';
import { compileInto } from './build';
import { runProgram } from './program';

const root = join(__dirname, '..');

/** @param folder of the package, where its `package.json` is */
export async function buildClient(folder = join(root, 'packages', 'client')): Promise<void> {
  const dist = join(folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  await compileInto(dist, join(root, 'packages', 'client', 'tsconfig.json'));
  cpSync(join(root, 'schemas'), join(dist, 'schemas'), { recursive: true });
  // By name, for bundlers that do not look into CommonJS.
  const names = Object.keys(client).filter((name) => name !== 'default');
  writeFileSync(join(dist, 'index.mjs'), `export { ${names.sort().join(', ')} } from './client/index.js';\n`);
  writeFileSync(join(dist, 'index.d.mts'), `export * from './client/index.js';\n`);
}

runProgram(module, buildClient);
