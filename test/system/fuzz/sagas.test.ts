/**
 * Whole sagas against a provider that answers anything: each ends, or waits in a state that has a name, and the worker
 * works on. `fuzz-runs.ts` says how to try more of them.
 */
import fc from 'fast-check';
import type { SagaHandle } from '../../../src/client/handle';
import { isOutcome } from '../../../src/domain/outcomes';
import { waitKinds, type SagaState } from '../../../src/domain/progress';
import { added, closeAll, httpText, onRequest, serveRaw } from '../../support/stand-in';
import { brokenTasksOf } from '../../support/events';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answers, changeQuote, onTheWire } from './answers';
import { fuzz, patience } from './fuzz-runs';

const { numRuns, seed } = fuzz(24, 12);
jest.setTimeout(patience(120_000));

const isPivot = /^(POST \/order(\/changeorder)?|PUT \/order\/switch\/\d+) /;

let rig: Rig;
/** By what was asked to be placed: the statuses that it was answered with, one after another. */
const placed = new Map<string, number[]>();

beforeAll(async () => {
  const odd = fc.sample(answers, { numRuns: 1_000, seed });
  let nth = 0;
  const provider = await serveRaw((socket) =>
    onRequest(socket, (request) => {
      nth += 1;
      const [line = '', body = ''] = [request.split('\r\n')[0], request.split('\r\n\r\n')[1]];
      const answer = odd[nth % odd.length]!;
      const pivot = isPivot.test(line);
      // Three of four are right up to the pivot, or no saga would come to it.
      if (!pivot && nth % 4 > 0) {
        socket.write(httpText(rightAnswer(line)));
        return;
      }
      const lost = nth % 5 === 0;
      if (pivot) placed.set(line + body, [...(placed.get(line + body) ?? []), lost ? 0 : answer.status]);
      if (lost) socket.end(onTheWire(answer).subarray(0, 14));
      else socket.write(onTheWire(answer));
    }),
  );
  // The sandbox is not asked, and so has no ledger of what took effect.
  rig = await Rig.start({ provider: { baseUrl: provider.url, totalTimeoutMs: 2_000 }, compares: false });
});
afterAll(async () => {
  await rig.close();
  await closeAll();
});

const starts: (() => Promise<SagaHandle>)[] = [
  () => rig.sagas.provision(provisionRequest({ items: [{}, {}], firewalls: [143] })),
  () => rig.sagas.change(changeRequest()),
  () => rig.sagas.switch(switchRequest()),
  () => rig.sagas.firewalls(firewallsRequest({ unassign: [150] })),
];

test(`${numRuns} sagas each end, or wait under a name`, async () => {
  const sagas = await Promise.all(Array.from({ length: numRuns }, (_, nth) => starts[nth % starts.length]!()));
  const states = await Promise.all(sagas.map(settled));
  expect(states.filter((state) => !isOutcome(state) && !waitKinds.some((kind) => kind === state))).toEqual([]);
  for (const { workflowId } of sagas) expect(await brokenTasksOf(rig.runOf({ workflowId }))).toEqual([]);
  expect(placed.size).toBeGreaterThan(0);
  for (const [request, statuses] of placed) {
    // Sent again only where it was surely not placed.
    expect([request, statuses.slice(0, -1).filter((status) => status !== 429)]).toEqual([request, []]);
  }
});

function settled(saga: SagaHandle): Promise<SagaState> {
  return until(async () => {
    const { state, waiting } = await saga.progress();
    return waiting !== undefined || isOutcome(state) ? state : undefined;
  });
}

function rightAnswer(line: string): string {
  if (line.includes('add-to-cart')) return JSON.stringify(added);
  if (line.includes('/total')) return JSON.stringify(changeQuote);
  return '[143]';
}
