/**
 * Makes a CycloneDX bill of materials of what is shipped, `reports/sbom.cdx.json`, and fails where a licence is none of
 * those that we accept.
 *
 * Made from an installation of the production packages alone: `npm sbom --omit dev` in a checkout leaves out every
 * package that a development package needs as well.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExpectedError, runProgram } from './program';

const root = join(__dirname, '..');

/** Permissive licences. To accept another one, add it here. */
const taken = 'MIT ISC Apache-2.0 BSD-2-Clause BSD-3-Clause 0BSD BlueOak-1.0.0 CC-BY-4.0 Unlicense'.split(' ');

/** Packages whose package.json does not name the licence of their licence file. */
const readByHand: Record<string, string> = { unionfs: 'Unlicense' };

interface Component {
  name: string;
  group?: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

function makeBom(): string {
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-sbom-'));
  try {
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(root, file), join(folder, file));
    npm(folder, ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']);
    // npm would report the development packages as missing.
    const project = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
    delete project['devDependencies'];
    writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
    return npm(folder, ['sbom', '--sbom-format', 'cyclonedx']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function npm(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stderr}`);
  return stdout;
}

interface Shipped {
  name: string;
  licence: string;
}

function readShipped(bom: string): Shipped[] {
  return (JSON.parse(bom) as { components: Component[] }).components.map(({ group, name, licenses }) => ({
    name: group ? `${group}/${name}` : name,
    licence:
      licenses?.map(({ license, expression }) => license?.id ?? license?.name ?? expression).join(' ') ??
      readByHand[name] ??
      'none',
  }));
}

/** `(MIT OR CC0-1.0)` is accepted if one of its parts is. */
function isTaken({ licence }: Shipped): boolean {
  return licence.split(/[()\s]|\bOR\b/).some((part) => taken.includes(part));
}

function main(): void {
  const bom = makeBom();
  mkdirSync(join(root, 'reports'), { recursive: true });
  writeFileSync(join(root, 'reports', 'sbom.cdx.json'), bom);
  const shipped = readShipped(bom);
  const foreign = shipped.filter((one) => !isTaken(one)).map(({ name, licence }) => `${name} (${licence})`);
  if (foreign.length > 0) throw new ExpectedError(`licences that are not accepted: ${foreign.join(', ')}`);
  const licences = [...new Set(shipped.map(({ licence }) => licence))].sort();
  console.log(`${shipped.length} packages shipped, under ${licences.join(', ')}`);
}

runProgram(module, main);
