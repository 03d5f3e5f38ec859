/** A server on a port of this machine, and the connections that it has. */
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Listening {
  /** host:port */
  readonly address: string;
  readonly port: number;
  /** Ends what is connected. */
  hangUp: () => void;
  close: () => Promise<void>;
}

export async function listenHere(server: Server): Promise<Listening> {
  const open = new Set<Socket>();
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      // Who is refused, or goes away, tells it to the other side.
      socket.on('error', () => undefined);
    });
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hangUp = () => open.forEach((socket) => socket.destroy());
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      hangUp();
    });
  return { port, address: `127.0.0.1:${port}`, hangUp, close };
}
