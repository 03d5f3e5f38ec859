/** The main process of a container, seen from inside. */
import type { Variables } from '../compose';
import { succeeded } from './command';
import type { Project } from './project';

/** How its command line begins: not that of the init before it, and not the shell that looks. */
const commands: Record<string, string> = {
  postgres: 'postgres ',
  temporal: 'temporal-server ',
  ui: './ui-server ',
  worker: 'node dist/worker.js',
  'codec-server': 'node dist/codec-server.js',
  sandbox: 'node --import tsx sandbox/main.ts',
  prometheus: '/bin/prometheus ',
};

export async function processEnvironment(project: Project, service: string): Promise<Variables> {
  const text = await ofMainProcess(project, service, `tr '\\0' '\\n' <"$process/environ"`);
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

/** Such as `CapEff`. */
export async function processStatus(project: Project, service: string): Promise<Variables> {
  const text = await ofMainProcess(project, service, `cat "$process/status"`);
  return Object.fromEntries([...text.matchAll(/^(\w+):\s*(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

async function ofMainProcess(project: Project, service: string, look: string): Promise<string> {
  const script = `for process in /proc/[0-9]*; do
    case "$(tr '\\0' ' ' <"$process/cmdline" 2>/dev/null)" in '${commands[service]}'*) ${look}; exit ;; esac
  done; exit 1`;
  // PostgreSQL’s processes are another user’s than the one that enters the container.
  const options = service === 'postgres' ? { user: 'postgres' } : {};
  return succeeded(await project.inside(service, ['sh', '-c', script], options), [service]).stdout;
}
