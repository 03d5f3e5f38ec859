/** deploy/kubernetes against what it speaks of. Its form is checked by the API's own schema (deploy/check/check.sh). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { readWorkerConfig } from '../../../src/config';
import { knownSettings } from '../../docs/tables';
import { projectFolder, readDocument } from '../../support/project';
import { operatorRules, rulesFile } from '../../../deploy/kubernetes/write-rules';

interface Probe {
  httpGet: { path: string; port: string };
}

interface Container {
  name: string;
  image: string;
  ports: { name: string; containerPort: number }[];
  readinessProbe: Probe;
  livenessProbe: Probe;
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { configMapKeyRef?: { name: string; key: string } } }[];
  envFrom: { configMapRef: { name: string } }[];
  volumeMounts: { name: string; mountPath: string }[];
  resources: { requests: object; limits: object };
  securityContext: object;
}

interface Pod {
  terminationGracePeriodSeconds: number;
  securityContext: object;
  initContainers?: [Container];
  containers: [Container];
  volumes: { name: string; secret: { secretName: string } }[];
}

interface Resource {
  kind: string;
  metadata: { name: string };
  data: Record<string, string>;
  spec: {
    replicas: number;
    selector: { matchLabels: object };
    template: { metadata: { labels: object }; spec: Pod };
  };
}

const resourcesIn = (folder: string): Resource[] =>
  readdirSync(join(projectFolder, folder))
    .filter((file) => file !== 'kustomization.yaml')
    .flatMap((file) => parseAllDocuments(readDocument(`${folder}/${file}`)))
    .map((document) => document.toJS({ maxAliasCount: 10 }) as Resource);

const resources = resourcesIn('deploy/kubernetes/base');

const ofKind = (kind: string) => resources.filter((resource) => resource.kind === kind);
const named = (kind: string, name: string) => ofKind(kind).find(({ metadata }) => metadata.name === name)!;

const deployments = ofKind('Deployment').map((deployment) => [deployment.metadata.name, deployment] as const);
const podOf = ({ spec }: Resource) => spec.template.spec;
const containerOf = (deployment: Resource) => podOf(deployment).containers[0];

/** As the process has it: from config maps, and by itself. */
function settingsOf(deployment: Resource): Record<string, string | undefined> {
  const { env = [], envFrom } = containerOf(deployment);
  const settings = new Map<string, string | undefined>();
  for (const { configMapRef } of envFrom) {
    for (const [name, value] of Object.entries(named('ConfigMap', configMapRef.name).data)) settings.set(name, value);
  }
  for (const { name, value } of env) settings.set(name, value);
  return Object.fromEntries(settings);
}

describe.each(deployments)('%s', (name, deployment) => {
  const container = containerOf(deployment);

  it('is given settings that it knows', () => {
    const known = knownSettings();
    expect(Object.keys(settingsOf(deployment)).filter((setting) => !known.has(setting))).toEqual([]);
  });

  it('has secrets by reference only, and reads the files that it is told to read', () => {
    for (const [setting, value] of Object.entries(settingsOf(deployment))) {
      if (/(TOKEN|KEYS|JOURNAL_URL)$/.test(setting)) expect([setting, value]).toEqual([setting, undefined]);
      if (/(TOKEN|URL|KEYS)_FILE$/.test(setting)) {
        expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain(value!.replace(/\/[^/]+$/, ''));
      }
    }
    const volumes = podOf(deployment).volumes.filter(({ secret }) => secret.secretName !== '');
    expect(container.volumeMounts.map((mount) => mount.name)).toEqual(volumes.map((volume) => volume.name));
  });

  it('may do no more than it needs', () => {
    expect(podOf(deployment).securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).toMatchObject({ requests: { memory: expect.any(String) }, limits: expect.anything() });
  });

  it('is asked how it is where it answers', () => {
    const { CODEC_ADDRESS, HEALTH_ADDRESS } = settingsOf(deployment);
    const health = Number((HEALTH_ADDRESS ?? CODEC_ADDRESS)!.split(':')[1]);
    for (const [path, { httpGet }] of [
      ['/ready', container.readinessProbe],
      ['/live', container.livenessProbe],
    ] as const) {
      expect(httpGet.path).toBe(path);
      expect(container.ports.find((port) => port.name === httpGet.port)?.containerPort).toBe(health);
    }
  });

  it('is more than one, and stays that while nodes are emptied', () => {
    expect(deployment.spec.replicas).toBeGreaterThan(1);
    expect(deployment.spec.template.metadata.labels).toEqual(deployment.spec.selector.matchLabels);
    expect(named('PodDisruptionBudget', name).spec.selector).toEqual(deployment.spec.selector);
  });
});

const worker = named('Deployment', 'order-saga-worker');

it('gives the worker longer to stop than it takes', () => {
  const { shutdownGraceMs: graceMs } = readWorkerConfig({ PROVIDER_BASE_URL: 'https://provider.example' });
  // Ten seconds after the grace, the worker itself ends what never ends.
  expect(podOf(worker).terminationGracePeriodSeconds * 1000).toBeGreaterThan(graceMs + 10_000);
});

it('brings the journal’s tables up to the worker’s release before it begins, and knows nothing else', () => {
  const [before] = podOf(worker).initContainers!;
  const after = containerOf(worker);
  expect(before).toMatchObject({ args: ['dist/starter.js', 'journal', 'migrate'], image: after.image });
  expect(before.securityContext).toEqual(after.securityContext);
  expect(before.resources).toMatchObject({ requests: { memory: expect.any(String) }, limits: expect.anything() });
  const [asked, ...more] = before.env ?? [];
  expect([asked!.name, more, before.envFrom]).toEqual(['JOURNAL_URL_FILE', [], undefined]);
  const { name, key } = asked!.valueFrom!.configMapKeyRef!;
  const file = named('ConfigMap', name).data[key]!;
  expect(file).toBe(settingsOf(worker)['JOURNAL_URL_FILE']);
  const mounted = after.volumeMounts.filter(({ mountPath }) => file.startsWith(`${mountPath}/`));
  expect(before.volumeMounts).toEqual(mounted);
  expect(mounted).toHaveLength(1);
});

it('gives the Prometheus operator the rules as they are', () => {
  expect(readFileSync(rulesFile, 'utf8')).toBe(operatorRules());
});

it('takes from an external store the secrets that docs/deploying.md makes by hand', () => {
  const volumes = deployments.flatMap(([, deployment]) => podOf(deployment).volumes);
  const wanted = [...new Set(volumes.map(({ secret }) => secret.secretName))].sort();
  const external = resourcesIn('deploy/kubernetes/external-secrets').map(({ metadata }) => metadata.name);
  expect(external.sort()).toEqual(wanted);
  const document = readDocument('docs/deploying.md');
  const made = [...document.matchAll(/kubectl create secret generic (\S+)/g)].map(([, name]) => name!);
  expect(made.sort()).toEqual(wanted);
});
