/**
 * A provider that answers anything: for every call, what comes of it is a success only where the answer is one, and
 * else one of the failures. A call that cannot be undone is never taken for refused where the answer is not clearly a
 * refusal.
 *
 * `fuzz-runs.ts` says how to try more cases, and others.
 */
import fc from 'fast-check';
import type { CallFailureName } from '../../../src/domain/failures';
import type { ProviderClient } from '../../../src/provider/client';
import { readJson } from '../../../src/domain/json';
import { meaningOf, type ProviderCall as ProviderKind } from '../../../src/provider/verdicts';
import { closeAll, createClient, onRequest, serveRaw } from '../../support/stand-in';
import { answers, bodiless, onTheWire, type Answer } from './answers';
import { calls, type ProviderCall } from './calls';
import { fuzz, patience } from './fuzz-runs';
import { nameOf, verdictOn } from './verdict';

const cases = fuzz(600);
const cutCases = fuzz(150);
jest.setTimeout(patience(60_000));

let client: ProviderClient;
let undeclaring: ProviderClient;
let bytes: Buffer[];
let requests: number;
let hangsUp = false;
beforeAll(async () => {
  const server = await serveRaw((socket) =>
    onRequest(socket, () => {
      requests += 1;
      // In two pieces, because a network cuts where it likes; the rest of an odd answer never comes.
      for (const piece of bytes) socket.write(piece);
      if (hangsUp) socket.end();
    }),
  );
  const few = { totalTimeoutMs: 20_000, connections: 4 };
  client = createClient(server.url, few);
  undeclaring = createClient(server.url, { ...few, profile: undefined });
});
afterAll(closeAll);

async function answered(call: ProviderCall, pieces: Buffer[], { thenHangsUp = false, by = client } = {}) {
  bytes = pieces;
  hangsUp = thenHangsUp;
  requests = 0;
  const verdict = await verdictOn(by, call);
  expect(requests).toBe(1);
  return verdict;
}

/** By the number of its row in the document; the directory has none. */
const kinds: Record<string, ProviderKind> = {
  ...{ 1: 'pivot', 2: 'add', 3: 'delete', 4: 'pivot', 5: 'quote' },
  ...{ 6: 'pivot', 7: 'quote', 8: 'assign', 9: 'assign', 10: 'list' },
};

/** The meaning that such an answer must have: the list of docs/statuses.md, put together a second time. */
function expected(asked: ProviderCall, { status, body }: Answer, isDeclared = true): CallFailureName | 'success' {
  const { pivot, documented } = asked;
  const call = kindOf(asked);
  if (saysOfNothing(call, status) && isPage(body)) return 'UnexpectedResponse';
  const meaning = meaningOf(status, { call });
  const undeclared = isDeclared ? undefined : unbelieved[asked.name];
  if (meaning === 'Gone') return undeclared ?? 'success';
  if (status < 200 || status > 299) return meaning === 'UnexpectedResponse' && pivot ? 'UnknownOutcome' : meaning;
  const json = bodiless.includes(status) ? null : parsed(body);
  if (json === undefined || depthOf(json) > 64) return 'UnknownOutcome';
  if (undeclared) return undeclared;
  if (status === 207 && call !== 'list') return call === 'delete' ? 'NotDeclared' : 'UnknownOutcome';
  // Another 2xx may be of a part.
  if (call === 'directory' && status !== 200) return 'UnknownOutcome';
  return documented(json) ? 'success' : 'UnknownOutcome';
}

/** What no answer can show where nobody has declared it. */
const unbelieved: Record<string, CallFailureName> = {
  ...{ '1 order': 'UnknownOutcome', '4 change order': 'UnknownOutcome', '3 delete item': 'NotDeclared' },
};

/** “There is nothing” counts by the interface's own word only. */
const saysOfNothing = (call: ProviderKind, status: number) =>
  (call === 'delete' && (status === 404 || status === 410)) ||
  (call === 'directory' && [404, 423, 425].includes(status));

const isPage = (body: Buffer) => new TextDecoder().decode(body).trim() !== '' && parsed(body) === undefined;

const kindOf = ({ name }: ProviderCall) => kinds[name.split(' ')[0] ?? ''] ?? 'directory';

/** test/unit/provider/wire.test.ts shows what is decompressed. */
const isCompressed = ({ body, headers }: Answer) =>
  (body[0] === 0x1f && body[1] === 0x8b) || headers.some((header) => header.startsWith('content-encoding'));

function parsed(body: Buffer): unknown {
  const read = readJson(new TextDecoder().decode(body));
  return 'json' in read ? read.json : undefined;
}

function depthOf(json: unknown): number {
  let depth = 0;
  for (let level = nestings([json]); level.length > 0; depth += 1) level = nestings(level.flatMap(Object.values));
  return depth;
}

function nestings(values: unknown[]): object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}

/** @param check is given the bytes, and the place of one of them */
const ofAnswers = (check: (call: ProviderCall, answer: Answer, wire: Buffer, at: number) => Promise<void>) =>
  fc.asyncProperty(fc.constantFrom(...calls), answers, fc.nat(), async (call, answer, cut) => {
    fc.pre(!isCompressed(answer));
    const wire = onTheWire(answer);
    await check(call, answer, wire, cut % wire.length);
  });

test(`${cases.numRuns} answers of every kind, to all ${calls.length} calls in turn`, async () => {
  const whole = ofAnswers(async (call, answer, wire, at) => {
    for (const isDeclared of [true, false]) {
      const by = isDeclared ? client : undeclaring;
      const verdict = nameOf(await answered(call, [wire.subarray(0, at), wire.subarray(at)], { by }));
      const meant = expected(call, answer, isDeclared);
      expect({ call: call.name, answer, isDeclared, verdict }).toEqual({
        call: call.name,
        answer,
        isDeclared,
        verdict: meant,
      });
    }
  });
  await fc.assert(whole, cases);
});

test(`${cutCases.numRuns} answers that are cut off at any byte`, async () => {
  const cut = ofAnswers(async (call, answer, wire, at) => {
    fc.pre(!bodiless.includes(answer.status) && answer.body.length > 0);
    const headEnd = wire.indexOf('\r\n\r\n') + 4;
    const verdict = nameOf(await answered(call, [wire.subarray(0, at)], { thenHangsUp: true }));
    // A refusal is one as soon as its status is whole; a success only with its last byte.
    const sure = at >= headEnd && answer.status >= 300 && !saysOfNothing(kindOf(call), answer.status);
    const meant = sure ? expected(call, answer) : 'UnknownOutcome';
    expect({ call: call.name, answer, verdict }).toEqual({ call: call.name, answer, verdict: meant });
  });
  await fc.assert(cut, cutCases);
});

test('no answer leaves a trace in what all objects inherit', () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { code?: unknown }).code).toBeUndefined();
});
