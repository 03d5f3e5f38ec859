/** A way to PostgreSQL that can be lost, at whichever moment a test wants. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  client: Socket;
  server: Socket;
}

interface Cut {
  statement: string;
  then: (pair: Pair, bytes: Buffer) => unknown;
}

export class Proxy {
  private readonly open = new Set<Pair>();
  private isSwallowing = false;
  private cut: Cut | undefined;

  private constructor(
    private readonly listening: Server,
    private readonly to: number,
  ) {}

  static async start(to: number): Promise<Proxy> {
    const listening = createServer();
    const proxy = new Proxy(listening, to);
    listening.on('connection', (client) => {
      proxy.carry(client);
    });
    await once(listening.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.listening.address() as AddressInfo).port;
  }

  /**
   * From now on not a byte gets through, either way, and nobody is told. New connections are taken, and hear nothing.
   */
  swallow(): void {
    this.isSwallowing = true;
  }

  /** New connections get through again. Those that were silent stay so for ever, as after a fail-over. */
  heal(): void {
    this.isSwallowing = false;
  }

  /** When the statement is sent next: it gets through, and both sides lose each other before the answer. */
  loseAnswerTo(statement: string): Promise<void> {
    return this.cutAt(statement, ({ client, server }, bytes) => {
      client.destroy();
      server.end(bytes);
    });
  }

  /** When the statement is sent next: the client loses its connection, and the server never gets it. */
  loseOnItsWay(statement: string): Promise<void> {
    return this.cutAt(statement, ({ client }) => client.destroy());
  }

  async close(): Promise<void> {
    this.listening.close();
    for (const { client, server } of this.open) {
      client.destroy();
      server.destroy();
    }
    await once(this.listening, 'close');
  }

  private cutAt(statement: string, act: Cut['then']): Promise<void> {
    return new Promise((resolve) => {
      const then: Cut['then'] = (pair, bytes) => {
        act(pair, bytes);
        resolve();
      };
      this.cut = { statement, then };
    });
  }

  private carry(client: Socket): void {
    const pair = { client, server: connect(this.to, '127.0.0.1') };
    const { server } = pair;
    this.open.add(pair);
    let isSilent = false;
    const getsThrough = () => {
      isSilent ||= this.isSwallowing;
      return !isSilent;
    };
    client.on('data', (bytes) => {
      if (!getsThrough()) return;
      const { cut } = this;
      if (cut === undefined || !bytes.includes(`${cut.statement}\0`)) {
        server.write(bytes);
        return;
      }
      this.cut = undefined;
      isSilent = true;
      cut.then(pair, bytes);
    });
    server.on('data', (bytes) => {
      if (getsThrough()) client.write(bytes);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        if (!isSilent) other.destroy();
        if (client.destroyed && server.destroyed) this.open.delete(pair);
      });
    }
  }
}
