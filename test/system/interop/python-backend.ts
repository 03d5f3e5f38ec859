/**
 * The Python backend as a process: an environment of its own with exact packages, made once, and a conversation with
 * it.
 */
import { execFile, spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export const examples = join(__dirname, '..', '..', '..', 'examples', 'python');
const requirements = join(examples, 'requirements.txt');

/** A sentence where there is no Python that can make an environment; undefined where there is. */
export function whyNoPython(): string | undefined {
  const asked = spawnSync('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))']);
  if (asked.error) return 'there is no python3 on PATH';
  return asked.status === 0
    ? undefined
    : 'python3 is older than 3.10, or lacks venv (Debian: the package python3-venv)';
}

/**
 * @returns the environment's interpreter. What the packages are is part of its name, so that others make another one.
 */
export async function python(): Promise<string> {
  const caches = process.env['XDG_CACHE_HOME'] || join(process.env['HOME'] || homedir(), '.cache');
  const version = spawnSync('python3', ['--version']).stdout.toString();
  const content = createHash('sha256').update(version).update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const home = join(process.env['ORDER_SAGA_CACHE'] || join(caches, 'order-saga'), `python-${content}`);
  const interpreter = join(home, 'bin', 'python');
  if (existsSync(join(home, 'complete'))) return interpreter;

  process.stderr.write('installing the Python SDK of Temporal (once, less than a minute)…\n');
  mkdirSync(dirname(home), { recursive: true });
  const run = promisify(execFile);
  // Environments do not like to be moved: made in its place, and marked when it is whole.
  const lock = `${home}.${randomUUID()}`;
  try {
    await run('python3', ['-m', 'venv', '--clear', home]);
    await run(interpreter, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements]);
    mkdirSync(lock);
    renameSync(lock, join(home, 'complete'));
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
  return interpreter;
}

interface Refusal {
  name: string;
  message: string;
}

export class PythonBackend {
  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    private readonly lines: AsyncIterator<string>,
    private readonly closed: Promise<void>,
  ) {}

  /** @param environment with TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and PAYLOAD_KEYS */
  static async start(environment: Record<string, string>): Promise<PythonBackend> {
    const child = spawn(await python(), [join(__dirname, 'python', 'driver.py')], {
      env: { PATH: process.env['PATH'], PYTHONPATH: examples, PYTHONDONTWRITEBYTECODE: '1', ...environment },
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    if ((await lines.next()).value !== 'ready') {
      await closed;
      throw new Error(`Python did not get ready:\n${errors}`);
    }
    return new PythonBackend(child, lines, closed);
  }

  /** Commands are obeyed one after the other. @throws what Python has thrown: an error of the same name and the same fields */
  async ask(command: { do: string } & Record<string, unknown>): Promise<unknown> {
    this.child.stdin.write(`${JSON.stringify(command)}\n`);
    const line = await this.lines.next();
    if (line.done) throw new Error('Python has ended');
    const answer = JSON.parse(line.value) as { ok: unknown } | { error: Refusal };
    if ('error' in answer) throw Object.assign(new Error(answer.error.message), answer.error);
    return answer.ok;
  }

  async stop(): Promise<void> {
    this.child.stdin.end();
    await this.closed;
  }
}
