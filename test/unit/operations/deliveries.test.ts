import { nextTry, unusableSecrets } from '../../../src/operations/deliveries';

const budget = { attemptsMax: 100, backoffMs: 5_000, backoffMaxMs: 3_600_000, totalMs: 86_400_000 };

it('each attempt comes later than the one before, up to an hour, and never in a row', () => {
  const delays = (random: number) => [1, 2, 3, 20].map((attempts) => nextTry({ attempts, triedMs: 0 }, budget, random));
  expect(delays(1)).toEqual([5_000, 10_000, 20_000, 3_600_000]);
  expect(delays(0)).toEqual([2_500, 5_000, 10_000, 1_800_000]);
});

it('the last attempt is at the end of the time, or of the attempts', () => {
  expect(nextTry({ attempts: 20, triedMs: 86_399_000 }, budget, 1)).toBe(1_000);
  expect(nextTry({ attempts: 20, triedMs: 86_400_000 }, budget, 1)).toBeUndefined();
  expect(nextTry({ attempts: 100, triedMs: 0 }, budget, 1)).toBeUndefined();
  // It has waited behind another one for all that time.
  expect(nextTry({ attempts: 1, triedMs: 90_000_000 }, budget, 1)).toBeUndefined();
});

it('the secrets of routes that no webhook can be signed with are told, and which they are', async () => {
  const routes = [
    {
      ...{ name: 'ops', url: 'https://ops.example/', secret: 'good' },
      escalation: { url: 'https://boss.example/', secret: 'gone', fromReminder: 1 },
    },
    { name: 'more', url: 'https://more.example/', secret: 'bad' },
  ];
  const values: Record<string, string> = { good: 'whsec_Z29vZA==', bad: 'hunter2!' };
  const secrets = { resolve: (name: string) => Promise.resolve(values[name]) };
  expect(await unusableSecrets(routes, secrets)).toEqual([
    { route: 'ops/escalation', secret: 'gone', why: 'its secret cannot be read' },
    { route: 'more', secret: 'bad', why: 'its secret is not whsec_ with base64 behind it' },
  ]);
  expect(await unusableSecrets([], secrets)).toEqual([]);
});
