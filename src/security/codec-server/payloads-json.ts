/** The body of a call: `{ "payloads": [...] }` in protobuf's JSON, where metadata and data are base64. */
import type { IncomingMessage } from 'node:http';
import type { Payload } from '@temporalio/common';
import { payloadFromJson, payloadToJson } from '../payload-json';
import { Refusal } from './refusal';

/** @throws Refusal, which quotes nothing of the body */
export async function readPayloads(request: IncomingMessage, bytesMax: number): Promise<Payload[]> {
  const body = parse(await readBody(request, bytesMax));
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw new Refusal(400, 'the body must be a JSON object');
  }
  // Temporal's command line sends `{}` where there is nothing to encode.
  const payloads: unknown = (body as { payloads?: unknown }).payloads ?? [];
  if (!Array.isArray(payloads)) throw new Refusal(400, 'payloads must be a list');
  return payloads.map((payload, index) => {
    try {
      return payloadFromJson(payload);
    } catch {
      throw new Refusal(400, `payloads[${index}] must be a payload: metadata and data in base64`);
    }
  });
}

export function writePayloads(payloads: readonly Payload[]): string {
  return JSON.stringify({ payloads: payloads.map(payloadToJson) });
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const tooLarge = () => new Refusal(413, `the body must be at most ${bytesMax} bytes long`);
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(400, 'the body must be JSON');
  }
}
