/**
 * The line between a worker and Temporal, which can be cut and fixed: nothing comes through, and nobody is told why.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Line {
  /** host:port */
  readonly address: string;
  cut: () => void;
  fix: () => void;
  close: () => Promise<void>;
}

/** @param to host:port */
export async function startLine(to: string): Promise<Line> {
  const { hostname: host, port } = new URL(`tcp://${to}`);
  const open = new Set<Socket>();
  let whole = true;
  const server = createServer((outside) => {
    if (!whole) {
      outside.destroy();
      return;
    }
    const inside = connect({ host, port: Number(port) });
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => undefined);
      one.once('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    whole = false;
    for (const socket of open) socket.destroy();
  };
  return {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    cut,
    fix: () => {
      whole = true;
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
