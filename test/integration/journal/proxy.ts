/** A way to PostgreSQL that can be lost, at whichever moment a test wants. */
import { connect, createServer, type Socket } from 'node:net';
import { listenHere } from '../../support/listen-here';

type Lose = (client: Socket, server: Socket, bytes: Buffer) => unknown;

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** @param to the server's port */
export async function startProxy(to: number) {
  const servers = new Set<Socket>();
  let isSwallowing = false;
  let cut: { statement: string; lose: Lose } | undefined;
  const cutAt = (statement: string, act: Lose) =>
    new Promise<void>((resolve) => {
      cut = { statement, lose: (...pair) => resolve(void act(...pair)) };
    });

  const carry = (client: Socket) => {
    const server = connect(to, '127.0.0.1');
    servers.add(server);
    let isSilent = false;
    const getsThrough = () => {
      isSilent ||= isSwallowing;
      return !isSilent;
    };
    client.on('data', (bytes) => {
      if (!getsThrough()) return;
      if (cut === undefined || !bytes.includes(`${cut.statement}\0`)) {
        server.write(bytes);
        return;
      }
      const { lose } = cut;
      cut = undefined;
      isSilent = true;
      lose(client, server, bytes);
    });
    server.on('data', (bytes) => {
      if (getsThrough()) client.write(bytes);
    });
    server.on('error', () => undefined);
    client.on('close', () => isSilent || server.destroy());
    server.on('close', () => isSilent || client.destroy());
  };

  const { port, close } = await listenHere(createServer(carry));
  return {
    port,
    /** From now on not a byte gets through, either way, and nobody is told. New connections are taken, and hear nothing. */
    swallow: () => {
      isSwallowing = true;
    },
    /** New connections get through again. Those that were silent stay so for ever, as after a fail-over. */
    heal: () => {
      isSwallowing = false;
    },
    /** When the statement is sent next: it gets through, and both sides lose each other before the answer. */
    loseAnswerTo: (statement: string) =>
      cutAt(statement, (client, server, bytes) => {
        client.destroy();
        server.end(bytes);
      }),
    /** When the statement is sent next: the client loses its connection, and the server never gets it. */
    loseOnItsWay: (statement: string) => cutAt(statement, (client) => client.destroy()),
    close: async () => {
      for (const server of servers) server.destroy();
      await close();
    },
  };
}
