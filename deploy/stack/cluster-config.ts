/**
 * A Temporal server that is one of several which replicate to each other. The image's settings, made of its
 * environment, know only one that is alone: its section `clusterMetadata` is written anew.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromConfig } from './programs';

export interface ClusterName {
  name: string;
  /** Of all that replicate to each other another one, from 1 to 10: the versions of what each writes differ by it. */
  failoverVersion: number;
}

export interface ClusterConfig {
  /** What the server is started with. */
  args: readonly string[];
  /** The file of its dynamic configuration. */
  dynamic: string;
}

/** A server looks for others that were made known to it; a minute, as shipped, is long for trying things out. */
const looksForOthers = `
system.clusterMetadataRefreshInterval:
  - value: 1s
`;

/**
 * @param template of the server's settings
 * @param dynamic the file of the dynamic configuration that it would have alone
 * @param folder for both
 */
export function writeClusterConfig(
  template: string,
  dynamic: string,
  folder: string,
  { name, failoverVersion }: ClusterName,
): ClusterConfig {
  const [section] = /^clusterMetadata:\n(?: .*\n)+/m.exec(template) ?? [];
  if (section === undefined) throw new Error('the settings of this Temporal server have no clusterMetadata');
  const own = section
    .replace('enableGlobalNamespace: false', 'enableGlobalNamespace: true')
    .replaceAll('"active"', `"${name}"`)
    .replace(/^( +)active:$/m, `$1${name}:`)
    .replace(/initialFailoverVersion: \d+/, `initialFailoverVersion: ${failoverVersion}`);
  const config = join(folder, 'config');
  mkdirSync(config);
  writeFileSync(
    join(config, 'docker.yaml'),
    template.replace(section, () => own),
  );
  const written = join(folder, 'dynamic-config.yaml');
  writeFileSync(written, `${readFileSync(dynamic, 'utf8')}${looksForOthers}`);
  return { args: [...fromConfig(folder), 'start'], dynamic: written };
}
