/**
 * A Prometheus of its own for a test, with our configuration and our rules; only where it scrapes, and how often, is
 * the test's.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { onPath } from '../../scripts/program-cache';
import { lowPorts } from '../../scripts/reachable';
import { readDocument } from './project';
import { until } from './rig';

const folder = 'deploy/prometheus';

/** A sentence where there is none on this machine. */
export const whyNoPrometheus =
  onPath('prometheus', process.env) === undefined ? 'there is no prometheus on PATH' : undefined;

interface Series {
  metric: Record<string, string>;
  value: number;
}

interface Rule {
  name: string;
  query: string;
  type: 'alerting' | 'recording';
  health: string;
  lastError?: string;
  /** Alerts only. */
  state?: 'inactive' | 'pending' | 'firing';
}

export interface Prometheus {
  /** The series of an expression now; an error of the expression is thrown with its text. */
  query: (expression: string) => Promise<Series[]>;
  until: (expression: string) => Promise<void>;
  rules: () => Promise<Rule[]>;
  stop: () => Promise<void>;
}

interface Configuration {
  global: Record<string, string>;
  scrape_configs: { job_name: string; scrape_interval?: string; dns_sd_configs?: unknown; static_configs?: unknown }[];
}

/** @param ports where each job of deploy/prometheus/prometheus.yaml is to be found on this machine */
export async function startPrometheus(ports: Readonly<Record<string, number>>): Promise<Prometheus> {
  const own = await mkdtemp(join(tmpdir(), 'order-saga-prometheus-'));
  await cp(folder, own, { recursive: true });
  const { global, scrape_configs: jobs, ...others } = parse(readDocument(`${folder}/prometheus.yaml`)) as Configuration;
  const configuration = {
    ...others,
    global: { ...global, scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    scrape_configs: jobs.map(({ job_name }) => {
      const port = ports[job_name];
      if (port === undefined) throw new Error(`no port is given for the job ${job_name}`);
      return { job_name, static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
    }),
  };
  await writeFile(join(own, 'prometheus.yaml'), stringify(configuration));
  // As often as the others: nobody waits a minute for the first look.
  const slos = join(own, 'slos.yaml');
  await writeFile(slos, (await readFile(slos, 'utf8')).replace('interval: 1m', 'interval: 1s'));
  const [port = 0] = await lowPorts(1);
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(own, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(own, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { cwd: own, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const exited = once(child, 'exit');
  const base = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}:\n${said}`);
    return fetch(`${base}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  const query = async (expression: string): Promise<Series[]> => {
    const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
      `${base}/api/v1/query`,
      new URLSearchParams({ query: expression }),
    );
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  };
  return {
    query,
    until: (expression) => until(async () => (await query(expression)).length > 0).then(() => undefined),
    rules: async () => {
      const { groups } = await ask<{ groups: { rules: Rule[] }[] }>(`${base}/api/v1/rules`);
      return groups.flatMap(({ rules }) => rules);
    },
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(own, { recursive: true, force: true });
    },
  };
}

async function ask<T>(url: string, body?: URLSearchParams): Promise<T> {
  const answer = await fetch(url, body === undefined ? {} : { method: 'POST', body });
  const { data, error } = (await answer.json()) as { data?: T; error?: string };
  if (data === undefined) throw new Error(`prometheus: ${error ?? answer.statusText}`);
  return data;
}
