/**
 * A Temporal server that is one of several which replicate to each other. The image's settings, made of its environment, know only one that is
 * alone: its section `clusterMetadata` is written anew.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ClusterName {
  name: string;
  /** Of all that replicate to each other another one, from 1 to 10: the versions of what each writes differ by it. */
  failoverVersion: number;
}

/**
 * @param programs the folder of the server
 * @param folder for the settings
 * @returns the folder of the settings
 */
export function writeClusterConfig(programs: string, folder: string, { name, failoverVersion }: ClusterName): string {
  const template = readFileSync(join(programs, 'config', 'docker.yaml'), 'utf8');
  const [section] = /^clusterMetadata:\n(?: .*\n)+/m.exec(template) ?? [];
  if (section === undefined) throw new Error('the settings of this Temporal server have no clusterMetadata');
  const own = section
    .replace('enableGlobalNamespace: false', 'enableGlobalNamespace: true')
    .replaceAll('"active"', `"${name}"`)
    .replace(/^( +)active:$/m, `$1${name}:`)
    .replace(/initialFailoverVersion: \d+/, `initialFailoverVersion: ${failoverVersion}`);
  const config = join(folder, 'config');
  mkdirSync(config);
  writeFileSync(join(config, 'docker.yaml'), template.replace(section, own));
  return config;
}
