/** A collector of traces, as far as a test needs one: takes OTLP in JSON over HTTP, and remembers every span. */
import { serve } from '../../support/stand-in';

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Record<string, unknown>;
  service: unknown;
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

/** Closed by `closeAll`. */
export async function startCollector() {
  const { url, seen } = await serve({ headers: { 'content-type': 'application/json' } });
  return {
    url,
    spans: () => seen.flatMap(({ body }) => spansIn(JSON.parse(body) as Traces)),
    received: () => Buffer.from(seen.map(({ body }) => body).join()),
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
