/** Asks a worker what it tells its probes. */
import type { RunningProcess } from '../../../scripts/processes';

export interface Probed {
  status: number;
  said: string;
}

/** Of a worker that was started with `HEALTH_ADDRESS`. */
export function healthOf({ ready }: Pick<RunningProcess, 'ready'>) {
  const [, url] = /, health (http:\S+)$/.exec(ready) ?? [];
  if (url === undefined) throw new Error(`it does not say where its health is asked for: ${ready}`);
  const probe = async (path: string): Promise<Probed> => {
    const response = await fetch(`${url}${path}`, { headers: { connection: 'close' } });
    return { status: response.status, said: (await response.text()).trim() };
  };
  return { url, ready: () => probe('/ready'), live: () => probe('/live') };
}
