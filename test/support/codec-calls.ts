/** Calls as a browser or a command line makes them, over real sockets, with every header free to choose. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { JSONToPayload, payloadToJSON, type JSONPayload } from '@temporalio/common/lib/proto-utils';
import { parsePayloadKeys } from '../../src/security/keys';
import { newKey } from './keys';
import { startCodecServer, type CodecServerOptions } from '../../src/security/codec-server/server';

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Sent {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
  /** PEM of an authority to trust. */
  ca?: string;
}

export async function call(url: string, { method = 'POST', headers = {}, body, ca }: Sent = {}): Promise<Answered> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  // A connection of its own for each call: none is left open when a server is to stop.
  const request = send(url, { method, headers, agent: false, ...(ca === undefined ? {} : { ca }) });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = (await buffer(response)).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** The fields of each line of the log. */
type Line = Record<string, unknown> & { level: 'info' | 'warn' | 'error'; message: string };

export interface TestServer extends Awaited<ReturnType<typeof startCodecServer>> {
  lines: Line[];
}

/** A server in this process, on a port of its own. */
export async function startServer(changes: Partial<CodecServerOptions> = {}): Promise<TestServer> {
  const lines: Line[] = [];
  const writer = (level: Line['level']) => (fields: object, message: string) => {
    lines.push({ ...fields, level, message });
  };
  const server = await startCodecServer({
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    keys: parsePayloadKeys(`k1:${newKey()}`),
    tokens: [],
    jwt: undefined,
    origins: [],
    log: { info: writer('info'), warn: writer('warn'), error: writer('error') },
    ...changes,
  });
  return { ...server, lines };
}

export const bodyOf = (...payloads: readonly Payload[]): string =>
  JSON.stringify({ payloads: payloads.map(payloadToJSON) });

export function payloadsIn({ text }: Answered): Payload[] {
  return (JSON.parse(text) as { payloads: JSONPayload[] }).payloads.map(JSONToPayload);
}

export const valuesIn = (answered: Answered): unknown[] =>
  payloadsIn(answered).map((payload) => defaultPayloadConverter.fromPayload(payload));

export const encodingsIn = (answered: Answered): string[] =>
  payloadsIn(answered).map(({ metadata }) => Buffer.from(metadata?.['encoding'] ?? []).toString());
