/**
 * A Temporal server and the journal as production has them, without containers: PostgreSQL from the system's packages,
 * the server and the Web UI built from their modules, with the environment and the set-up scripts of
 * docker-compose.yml. Only hosts and ports are others.
 *
 *   PostgreSQL ─┬─ setup-databases.sh ── temporal-server ── setup-namespace.sh ── Web UI
 *               └─ setup-database.sh ── the journal's tables
 *
 * Nothing outlives the process that started it, and nothing is kept.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { holdProgram, readied } from '../../scripts/held-program';
import { assertFree, lowPorts, touch, untilNamespaceReady, untilPageReady, untilReady } from '../../scripts/reachable';
import { resolveCli } from '../../scripts/temporal-cli';
import { migrate } from '../../src/journal/open';
import { composeService, type Variables } from '../compose';
import { writeServerConfig, type ClusterName } from './server-config';
import { Part } from './part';
import { askPostgres, startPostgres, type Access } from './postgres';
import { fromConfig, resolvePrograms, resolveUi, serverTemplate, type Programs } from './programs';

const deploy = join(__dirname, '..');
const host = '127.0.0.1';
const namespace = 'default';

interface Authorizer {
  /** A file of JSON web keys. */
  keys: string;
  /** A token by one of them, of somebody who may do everything: its namespace is made so. */
  token: string;
}

export interface StackOptions {
  /** @default any that is free */
  port?: number;
  /** With the Web UI. @default false */
  ui?: boolean;
  /** @default any that is free */
  uiPort?: number;
  /** One of several that replicate to each other. @default the only one */
  cluster?: ClusterName;
  /** The server asks who calls, and attributes events to them. @default nobody is asked */
  authorizer?: Authorizer;
  /** Temporal's store fails now and then, and may have written all the same. @default false */
  faults?: boolean;
}

export interface Stack {
  readonly address: string;
  /** As `JOURNAL_URL` has it, password and all; the tables are made. */
  readonly journalUrl: string;
  readonly uiUrl: string | undefined;
  /** Has one log for each program, for as long as the stack runs. */
  readonly folder: string;
  readonly postgres: Part;
  /** Whose the cluster is, in which both databases are. */
  readonly superuser: Omit<Access, 'database'>;
  readonly server: Part;
  /** Asks PostgreSQL; a row a line, its columns apart by tabs. */
  sql: (database: string, statement: string) => Promise<string>;
  stop: () => Promise<void>;
}

/** @throws NoStackError when it cannot be read here; NoTemporalError when there is no CLI */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  for (const port of [options.port, options.uiPort]) if (port !== undefined) await assertFree(port);
  const programs = { ...(await resolvePrograms()), ui: options.ui ? await resolveUi() : undefined };
  // What setup-namespace.sh speaks through.
  const cli = await resolveCli();
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-stack-'));
  // PostgreSQL runs as another user, and must get through to its own folder.
  chmodSync(folder, 0o711);
  const parts: Part[] = [];
  const stop = async () => {
    for (const part of parts.splice(0).reverse()) await part.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { ...(await startParts({ ...options, programs, cli, folder, parts })), folder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Start extends StackOptions {
  programs: Programs & { ui: string | undefined };
  cli: string;
  folder: string;
  /** Gets what was started, in that order, also when something later fails. */
  parts: Part[];
}

async function startParts({ programs, cli, folder, parts, ...chosen }: Start): Promise<Omit<Stack, 'folder' | 'stop'>> {
  const { authorizer } = chosen;
  const ports = (await lowPorts(3 + innerPorts.length)).map(String);
  const [databasePort = '', anyPort, anyUiPort, ...inner] = ports;
  const secret = () => randomBytes(24).toString('hex');
  const variables = { POSTGRES_PASSWORD: secret(), JOURNAL_PASSWORD: secret() };
  const environmentOf = (service: string) => composeService(service, variables).environment;
  const started = async (starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    parts.push(part);
    return part;
  };
  /** As in its image: its settings are made of the environment. */
  const hold = (program: string, from: string, args: readonly string[], environment: Variables) =>
    holdProgram(join(from, program), args, { ...environment, TETHERED_LOG_FILE: join(folder, `${program}.log`) });

  const { environment: database, command: [, ...args] = [] } = composeService('postgres', variables);
  const { POSTGRES_USER: user = '', POSTGRES_PASSWORD: password = '' } = database;
  const superuser = { user, password, port: databasePort };
  const own = { programs: programs.postgres, folder: join(folder, 'postgres'), args };
  const postgres = await started(startPostgres({ ...own, ...superuser }));
  const sql = (name: string, statement: string) =>
    askPostgres(programs.postgres, { ...superuser, database: name }, statement);

  const atDatabase = { PGHOST: host, PGPORT: databasePort };
  const ofJournal = { ...environmentOf('journal-database'), ...atDatabase };
  await setUp('journal/setup-database.sh', programs.postgres, ofJournal);
  const journal = new URL(environmentOf('journal-schema')['JOURNAL_URL'] ?? '');
  journal.host = `${host}:${databasePort}`;
  const journalUrl = journal.href;
  await migrate({ postgres: journalUrl });

  const aloneDynamic = join(deploy, 'temporal', 'dynamic-config.yaml');
  const { args: serverArgs, dynamic } =
    chosen.cluster || chosen.faults
      ? writeServerConfig(await serverTemplate(), aloneDynamic, folder, chosen)
      : { args: programs.serverArgs, dynamic: aloneDynamic };
  const services = authorizer ? [...serversOwn, 'internal-frontend'].flatMap((name) => ['--service', name]) : [];
  const port = String(chosen.port ?? anyPort);
  const address = `${host}:${port}`;
  const ofDatabases = { ...environmentOf('temporal-databases'), SQL_HOST: host, SQL_PORT: databasePort };
  const ofServer = {
    ...environmentOf('temporal'),
    POSTGRES_SEEDS: host,
    DB_PORT: databasePort,
    VISIBILITY_DB_PORT: databasePort,
    BIND_ON_IP: host,
    FRONTEND_GRPC_PORT: port,
    ...Object.fromEntries(innerPorts.map((name, index) => [name, inner[index] ?? ''])),
    PROMETHEUS_ENDPOINT: '',
    ...(authorizer && {
      TEMPORAL_AUTH_AUTHORIZER: 'default',
      TEMPORAL_AUTH_CLAIM_MAPPER: 'default',
      TEMPORAL_JWT_KEY_SOURCE1: pathToFileURL(authorizer.keys).href,
      // The server's own calls carry no token.
      USE_INTERNAL_FRONTEND: 'true',
    }),
    DYNAMIC_CONFIG_FILE_PATH: dynamic,
  };
  const ofNamespace = {
    ...environmentOf('temporal-namespace'),
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    ...(authorizer && { TEMPORAL_GRPC_META_AUTHORIZATION: `Bearer ${authorizer.token}` }),
  };
  const startServer = async () => {
    // At each start, as compose does it: again, both change nothing.
    await setUp('temporal/setup-databases.sh', programs.temporal, ofDatabases);
    return readied(
      hold('temporal-server', programs.temporal, [...serverArgs, ...services], ofServer),
      async (signal) => {
        await untilReady(`the Temporal server at ${address}`, () => touch(address), signal);
        await setUp('temporal/setup-namespace.sh', dirname(cli), ofNamespace, signal);
        await untilNamespaceReady(
          address,
          namespace,
          signal,
          authorizer && { authorization: `Bearer ${authorizer.token}` },
        );
      },
    );
  };
  const server = await started(Part.start(startServer));
  const { ui } = programs;
  if (ui === undefined) return { address, journalUrl, uiUrl: undefined, postgres, superuser, server, sql };

  const uiPort = String(chosen.uiPort ?? anyUiPort);
  const uiUrl = `http://${host}:${uiPort}`;
  const ofUi = {
    ...environmentOf('ui'),
    TEMPORAL_ADDRESS: address,
    TEMPORAL_UI_PORT: uiPort,
    TEMPORAL_CORS_ORIGINS: uiUrl,
    // There is none here, and the page would complain of it.
    TEMPORAL_CODEC_ENDPOINT: '',
  };
  const startUi = () =>
    readied(hold('temporal-ui-server', ui, [...fromConfig(ui), 'start'], ofUi), (signal) =>
      untilPageReady('the Web UI', uiUrl, signal),
    );
  await started(Part.start(startUi));
  return { address, journalUrl, uiUrl, postgres, superuser, server, sql };
}

const serversOwn = ['frontend', 'history', 'matching', 'worker'];

/** What the server listens on beside its clients' port, by the variable that says where. */
const innerPorts = [
  'FRONTEND_HTTP_PORT',
  'FRONTEND_MEMBERSHIP_PORT',
  'INTERNAL_FRONTEND_HTTP_PORT',
  ...['HISTORY', 'MATCHING', 'WORKER', 'INTERNAL_FRONTEND'].flatMap((service) => [
    `${service}_GRPC_PORT`,
    `${service}_MEMBERSHIP_PORT`,
  ]),
];

/**
 * Runs a script that sets something up in a container, with its programs from elsewhere. @throws with what it said last
 */
async function setUp(name: string, programs: string, environment: Variables, signal?: AbortSignal): Promise<void> {
  const script = join(deploy, name);
  // A home without anybody's settings of the CLI.
  const env = { HOME: programs, ...environment, PATH: [programs, process.env['PATH']].join(delimiter) };
  const { failed, stdout, stderr } = await promisify(execFile)('sh', [script], { env, ...(signal && { signal }) }).then(
    (said) => ({ ...said, failed: false }),
    (error: unknown) => ({ ...(error as { stdout: string; stderr: string }), failed: true }),
  );
  if (failed) throw new Error(`${script} failed:\n${`${stdout}${stderr}`.slice(-4_000)}`);
}
