/**
 * A way to the provider that can be held: connections that come meanwhile are opened, and get no byte until it is let
 * go.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Gateway {
  readonly port: number;
  /** @returns when the first connection stands at it */
  hold: () => Promise<void>;
  letGo: () => void;
  close: () => Promise<void>;
}

/** @param to the port on this machine where it leads */
export async function startGateway(to: number): Promise<Gateway> {
  const sockets = new Set<Socket>();
  let waiting: (() => void)[] | undefined;
  let stands: () => void = () => undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  };
  const join = (outside: Socket) => {
    const inside = connect(to, '127.0.0.1');
    keep(inside);
    outside.pipe(inside).pipe(outside);
    outside.once('close', () => inside.destroy());
    inside.once('close', () => outside.destroy());
  };
  const server = createServer({ pauseOnConnect: true }, (outside) => {
    keep(outside);
    if (waiting === undefined) return join(outside);
    waiting.push(() => join(outside));
    stands();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => {
      waiting = [];
      return new Promise((resolve) => (stands = resolve));
    },
    letGo: () => {
      const all = waiting ?? [];
      waiting = undefined;
      for (const go of all) go();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
