/**
 * Settings that the image of a Temporal server, which makes them of its environment, does not know: that it is one of
 * several which replicate to each other, and that its store fails now and then.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromConfig } from './programs';

export interface ClusterName {
  name: string;
  /** Of all that replicate to each other another one, from 1 to 10: the versions of what each writes differ by it. */
  failoverVersion: number;
}

/** The server may have written what it says that it could not write. */
const faultyStore = `
            faultInjection:
                targets:
                    dataStores:
                        ExecutionStore:
                            methods:
                                CreateWorkflowExecution: { errors: { ExecuteAndTimeout: 0.05, Timeout: 0.02 } }
                                UpdateWorkflowExecution: { errors: { ExecuteAndTimeout: 0.03, Timeout: 0.01, ShardOwnershipLost: 0.002 } }
                                AppendHistoryNodes: { errors: { ExecuteAndTimeout: 0.02, Unavailable: 0.01 } }
                                GetWorkflowExecution: { errors: { Timeout: 0.02, ResourceExhausted: 0.02 } }
                                ReadHistoryBranch: { errors: { Timeout: 0.02 } }
`;

export interface ServerConfig {
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
export function writeServerConfig(
  template: string,
  dynamic: string,
  folder: string,
  { cluster, faults }: { cluster?: ClusterName | undefined; faults?: boolean | undefined },
): ServerConfig {
  let settings = template;
  const change = (pattern: RegExp, changed: (section: string) => string) => {
    const before = settings;
    settings = settings.replace(pattern, changed);
    if (settings === before) throw new Error(`the settings of this Temporal server have no ${pattern.source}`);
  };
  if (cluster)
    change(/^clusterMetadata:\n(?: .*\n)+/m, (section) =>
      section
        .replace('enableGlobalNamespace: false', 'enableGlobalNamespace: true')
        .replaceAll('"active"', `"${cluster.name}"`)
        .replace(/^( +)active:$/m, `$1${cluster.name}:`)
        .replace(/initialFailoverVersion: \d+/, `initialFailoverVersion: ${cluster.failoverVersion}`),
    );
  // For each kind of database there is one.
  if (faults) change(/^ {8}default:\n/gm, (section) => section.trimEnd() + faultyStore);
  const config = join(folder, 'config');
  mkdirSync(config);
  writeFileSync(join(config, 'docker.yaml'), settings);
  const written = join(folder, 'dynamic-config.yaml');
  writeFileSync(written, `${readFileSync(dynamic, 'utf8')}${looksForOthers}`);
  return { args: [...fromConfig(folder), 'start'], dynamic: written };
}
