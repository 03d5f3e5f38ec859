/** A collector of traces, as far as a test needs one: takes OTLP in JSON over HTTP, and remembers every span. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Record<string, unknown>;
  service: unknown;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly Span[];
  /** Every byte that came. */
  readonly received: () => Buffer;
  /** It still takes what comes, and answers no more. */
  fallSilent: () => void;
  close: () => Promise<void>;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface Traces {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<Span, 'attributes' | 'service'> & { attributes: Attribute[] })[] }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: Span[] = [];
  const bodies: Buffer[] = [];
  let silent = false;
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      bodies.push(body);
      spans.push(...spansIn(JSON.parse(body.toString()) as Traces));
      if (!silent) response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    spans,
    received: () => Buffer.concat(bodies),
    fallSilent: () => {
      silent = true;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function spansIn({ resourceSpans }: Traces): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap((scope) => scope.spans)
      .map((span) => ({
        ...span,
        attributes: valuesOf(span.attributes),
        service: valuesOf(resource.attributes)['service.name'],
      })),
  );
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
