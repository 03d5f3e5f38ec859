import { chanceOf } from '../../../sandbox/chance';
import { faultMoments } from '../../../sandbox/fault-kinds';
import type { RandomFaults } from '../../../sandbox/faults';
import { call, closeAll, cloudServer, startSandbox } from './calling';
import { itInWays } from '../../support/left-out';

afterEach(closeAll);

/** What struck which of 40 calls, 20 to either of two endpoints; `calls` says in which order they alternate. */
async function story(randomFaults: RandomFaults, calls: 'paired' | 'one after the other' = 'paired') {
  const sandbox = await startSandbox({ randomFaults });
  const add = () => call(sandbox, 'POST', '/order/add-to-cart', cloudServer).catch(() => undefined);
  const list = () => call(sandbox, 'GET', '/firewalls/object/1').catch(() => undefined);
  const twenty = Array.from({ length: 20 });
  if (calls === 'paired') for (const _ of twenty) await add().then(list);
  else {
    for (const _ of twenty) await list();
    for (const _ of twenty) await add();
  }
  const of = (endpoint: string) =>
    sandbox.ledger.calls.filter((one) => one.endpoint === endpoint).map((one) => one.faults[0]?.kind ?? '-');
  return { added: of('add-cart-item'), listed: of('list-firewalls') };
}

const struck = (kinds: string[]) => kinds.filter((kind) => kind !== '-').length;

describe('random faults', () => {
  test('are the same for the same seed, and others for another', async () => {
    const first = await story({ seed: 7, rate: 0.5 });
    expect(await story({ seed: 7, rate: 0.5 })).toEqual(first);
    expect(await story({ seed: 8, rate: 0.5 })).not.toEqual(first);
    expect(first.added).not.toEqual(first.listed);
  });

  test('do not depend on what other endpoints do meanwhile', async () => {
    expect(await story({ seed: 7, rate: 0.5 }, 'one after the other')).toEqual(await story({ seed: 7, rate: 0.5 }));
  });

  test('strike none at rate 0, all at rate 1, and some in between', async () => {
    expect(struck((await story({ seed: 1, rate: 0 })).added)).toBe(0);
    expect(struck((await story({ seed: 1, rate: 1 })).added)).toBe(20);
    const some = struck((await story({ seed: 1, rate: 0.5 })).added);
    expect(some).toBeGreaterThan(3);
    expect(some).toBeLessThan(17);
  });

  test('keep to the kinds and endpoints they are given', async () => {
    const { added, listed } = await story({
      seed: 1,
      rate: 1,
      kinds: ['rate-limit', 'error-after'],
      endpoints: ['add-cart-item'],
    });
    expect(new Set(added)).toEqual(new Set(['rate-limit', 'error-after']));
    expect(struck(listed)).toBe(0);
  });

  test('stop after so many strikes', async () => {
    const { added, listed } = await story({ seed: 1, rate: 1, strikesMax: 5 });
    expect(struck(added) + struck(listed)).toBe(5);
  });

  itInWays('neither hang nor hold unless asked to', async () => {
    const sandbox = await startSandbox();
    sandbox.faults.random({ seed: 1, rate: 1 });
    const kinds = new Set<string>();
    for (let nth = 0; nth < 200; nth++) {
      await call(sandbox, 'GET', '/firewalls/object/1').catch(() => undefined);
      kinds.add(sandbox.ledger.faultsStruck.at(-1)?.kind ?? 'none');
    }
    const ending = Object.keys(faultMoments).filter((kind) => kind !== 'gate' && !kind.startsWith('hang'));
    expect([...kinds].sort()).toEqual(ending.sort());
  });

  test.each([
    { seed: 1, rate: 2 },
    { seed: 1, rate: 1, kinds: ['gate'] },
    { seed: 1, rate: 1, kinds: [] },
    { rate: 1 },
  ])('%j makes no sense and is refused', async (faults) => {
    const sandbox = await startSandbox();
    expect(() => sandbox.faults.random(faults as unknown as RandomFaults)).toThrow();
  });
});

test('chance is spread evenly over keys that differ in one digit', () => {
  const draws = Array.from({ length: 2000 }, (_, nth) => chanceOf(`1/place-order/${nth}`)());
  expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
  for (let tenth = 0; tenth < 10; tenth++) {
    const inTenth = draws.filter((draw) => Math.floor(draw * 10) === tenth).length;
    expect(inTenth).toBeGreaterThan(150);
    expect(inTenth).toBeLessThan(250);
  }
});
