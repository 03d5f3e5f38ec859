/** A receiver of webhooks on a real socket: it verifies each signature with the library, and answers as it is told. */
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { Message, Notice, Route, RouteFormat, NotificationEvent } from '../../src/domain/notifications';
import { listenHere, type Listening } from './listen-here';

/** `hang`: no answer; `endless`: a 200 whose body never ends. */
export type Told =
  | number
  | { status: number; headers: Record<string, string> }
  | 'hang'
  | 'endless'
  | { redirectTo: string }
  | { until: Promise<number> };

export interface Delivery {
  id: string;
  message: Message;
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export const routeTo = (url?: string, format?: RouteFormat): Route => {
  return { name: 'ops', url, format, secret: 'webhook-ops' };
};

/** What a saga that is stuck tells. */
export const noticeOf = (event: NotificationEvent, said: Partial<Message['data']> = {}): Notice => {
  const of = { reference: 'PO-1', workflow: 'provisionServers', workflowId: 'provision/PO-1', runId: 'r1' } as const;
  const question = { kind: 'stuck', step: 'place-order', question: '5f0c9a1e', failure: 'Unauthorized' } as const;
  const data = { ...of, ...question, namespace: 'orders', state: 'stuck', account: 'AB-1', ...said } as const;
  return { id: 'one', message: { type: `saga.${event}`, timestamp: '2026-11-23T02:14:07.512Z', data } };
};

const secret = `whsec_${Buffer.from('a secret that only the two of us know').toString('base64')}`;

export class WebhookReceiver {
  readonly deliveries: Delivery[] = [];
  /** Said of requests that no sender of ours may make. */
  readonly faults: string[] = [];

  private constructor(
    private readonly listening: Listening,
    public answers: (message: Message, nth: number) => Told,
  ) {}

  static async start(answers: (message: Message, nth: number) => Told = () => 200): Promise<WebhookReceiver> {
    const server = http.createServer();
    const receiver = new WebhookReceiver(await listenHere(server), answers);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => void receiver.take(request.headers, Buffer.concat(chunks).toString(), response));
    });
    return receiver;
  }

  readonly secret = secret;

  get port(): number {
    return this.listening.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks?of=test`;
  }

  /** The messages that it has answered with success, in order. */
  get taken(): Delivery[] {
    return this.deliveries.filter(({ status }) => status !== undefined && status < 300);
  }

  /** Those of one saga, without repeats: a message is sent at least once. */
  messagesOf(reference: string): Message[] {
    const first = new Map(this.taken.map(({ id, message }) => [id, message]));
    return [...first.values()].filter(({ data }) => data.reference === reference);
  }

  typesOf(reference: string): string[] {
    return this.messagesOf(reference).map(({ type }) => type);
  }

  close(): Promise<void> {
    return this.listening.close();
  }

  private async take(headers: IncomingHttpHeaders, body: string, response: ServerResponse): Promise<void> {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    } catch (error) {
      this.faults.push(String(error));
    }
    const message = JSON.parse(body) as Message;
    const delivery: Delivery = { id: String(headers['webhook-id']), message, status: undefined, headers, body };
    const nth = this.deliveries.push(delivery);
    const told = this.answers(message, nth);
    if (told === 'hang') return;
    if (told === 'endless') {
      delivery.status = 200;
      response.writeHead(200).write('and so on');
      return;
    }
    if (typeof told === 'object' && 'redirectTo' in told) {
      delivery.status = 307;
      response.writeHead(307, { location: told.redirectTo }).end();
      return;
    }
    if (typeof told === 'object' && 'until' in told) return this.answer(response, delivery, await told.until);
    const said = typeof told === 'number' ? { status: told, headers: {} } : told;
    this.answer(response, delivery, said.status, said.headers);
  }

  private answer(response: ServerResponse, delivery: Delivery, status: number, headers = {}): void {
    delivery.status = status;
    response.writeHead(status, headers).end('thank you');
  }
}
