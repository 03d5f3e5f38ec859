/** The hold: only what has not begun is held; one switch for the namespace; whatever ends it lets all begin. */
import type { SagaHandle } from '../../../src/client/handle';
import { runHere } from '../../support/command-line';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { outcomeOf, untilState } from '../../support/sagas';

const rig = rigForFile();
afterEach(async () => {
  await rig.sagas.release();
  await until(async () => (await rig.sagas.countHeld()) === 0);
});

/** As the Web UI does it: a name, an id, a queue, some JSON. */
const startHold = (start: object) =>
  rig.temporal.workflow.start('hold', { workflowId: 'hold', taskQueue: 'order-saga', args: [start] });
const held = async (count: number, start: () => Promise<SagaHandle>) => {
  const sagas = await Promise.all(Array.from({ length: count }, start));
  await Promise.all(sagas.map((saga) => untilState(saga, 'held')));
  await until(async () => (await rig.sagas.countHeld()) === count);
  return sagas;
};
const cli = (...args: string[]) => runHere(args, '', rig.environment);

it.each<[string, () => Promise<unknown>]>([
  ['cancelled', () => rig.temporal.workflow.getHandle('hold').cancel()],
  ['terminated', () => rig.temporal.workflow.getHandle('hold').terminate()],
])(
  'holds what has not begun, and says since when and who; all begin by themselves when it is %s',
  async (_how, end) => {
    const calls = rig.sandbox.ledger.calls.length;
    await startHold({ by: 'ann', note: 'moving the database' });
    await until(async () => (await rig.sagas.holding())?.by === 'ann');
    const sagas = await held(2, () => rig.sagas.provision(provisionRequest()));
    const { steps, waiting } = await sagas[0]!.progress();
    expect(waiting).toBeUndefined();
    expect(steps[0]?.detail).toMatch(/^new sagas are held since 20[-0-9]+ [:0-9]+ UTC by ann; nothing was sent$/);
    expect(rig.sandbox.ledger.calls).toHaveLength(calls);
    const { raw } = await rig.runOf(sagas[0]!).describe();
    expect(raw.pendingActivities?.[0]?.lastFailure?.message).toMatch(/^new sagas are held since .* UTC by ann$/);

    await end();
    await until(async () => (await rig.sagas.holding()) === undefined);
    for (const saga of sagas) expect(await outcomeOf(saga)).toMatchObject({ result: { decisions: [] } });
    expect((await sagas[0]!.progress()).state).toBe('done');
    await until(async () => (await rig.sagas.countHeld()) === 0);
  },
);

it('is switched and told of by the command line', async () => {
  const begin = { status: 0, out: 'new sagas begin: no hold is on\n0 sagas are held\n', err: '' };
  expect(await cli('hold', 'status')).toEqual(begin);
  expect((await cli('hold', 'on', '--by', 'ann', '--note', 'a move')).out).toMatch(
    /^new sagas are held since .* by ann \(a move\)\n$/,
  );
  expect((await cli('hold', 'on', '--by', 'bob', '--note', 'again')).out).toMatch(
    /by ann \(a move\): that hold was on before/,
  );
  const [saga] = await held(1, () => rig.sagas.provision(provisionRequest()));
  expect((await cli('hold', 'status')).out).toMatch(/by ann \(a move\)\n1 saga is held\n$/);
  expect(JSON.parse((await cli('hold', 'status', '--json')).out)).toMatchObject({ hold: { by: 'ann' }, held: 1 });
  const list = await cli('list', '--state', 'held');
  expect(list.out).toContain(saga!.workflowId);
  expect(list.err).toMatch(/^new sagas are held since .* by ann \(a move\); `order-saga hold off` lets them begin\n$/);
  for (const words of [[], ['--by', 'bob'], ['--note', 'done']])
    for (const which of ['on', 'off']) expect((await cli('hold', which, ...words)).status).toBe(2);
  const off = ['hold', 'off', '--by', 'bob', '--note', 'done'];
  expect((await cli(...off)).out).toBe(
    'the hold is off: new sagas begin\n1 saga is held: each begins within five minutes\n',
  );
  await saga!.result();
  expect((await cli('list', '--limit', '1')).err).not.toContain('held');
  expect((await cli(...off)).out).toMatch(/^no hold was on\n/);
});
