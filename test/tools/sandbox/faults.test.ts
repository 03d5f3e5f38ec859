/** A fault spoils what it says, and takes effect or not as its name says: else what other tests spoil is not spoilt. */
import type { FaultKind } from '../../../sandbox/fault-kinds';
import type { FaultSpec } from '../../../sandbox/faults';
import { openCartItems } from '../../../sandbox/sentences';
import { Sandbox } from '../../../sandbox/server';

const item = {
  ...{ billing_cycle: 1, plan_id: 17, plan_type: 'cloud_servers_standard' },
  ...{ password: 'correct horse', os_template_id: 3 },
};
const add = ({ url }: Sandbox) =>
  fetch(`${url}/order/add-to-cart`, { method: 'POST', body: JSON.stringify(item), redirect: 'manual' });

/** What is answered: a status and a body, or 'broken' where the connection was. */
const answerOf = (sent: Promise<Response>) =>
  sent.then(
    async (reply) => ({ status: reply.status, text: await reply.text().catch(() => 'broken') }),
    () => 'broken' as const,
  );

test.each<[FaultKind, Partial<FaultSpec>, object | 'broken', effects: 0 | 1]>([
  ['refuse-before', {}, { status: 422 }, 0],
  ['refuse-after', { status: 408 }, { status: 408 }, 1],
  ['error-before', { status: 503 }, { status: 503 }, 0],
  ['error-after', {}, { status: 500 }, 1],
  ['rate-limit', {}, { status: 429 }, 0],
  ['unauthorized', {}, { status: 401 }, 0],
  ['forbidden', {}, { status: 403 }, 0],
  ['redirect', {}, { status: 302, text: '' }, 0],
  ['redirect-after', {}, { status: 303, text: '' }, 1],
  ['error-code', {}, { status: 200, text: expect.stringContaining('"code":500') }, 0],
  ['says-no-before', { body: { success: false } }, { status: 200, text: '{"success":false}' }, 0],
  ['says-no-after', { body: { success: false } }, { status: 200, text: '{"success":false}' }, 1],
  ['odd', { oddity: 'texts' }, { status: 200, text: expect.stringContaining('"0":"501"') }, 1],
  ['other-body', {}, { status: 200, text: '{}' }, 1],
  ['garbage', {}, { status: 200, text: expect.not.stringMatching(/^[[{"]/) }, 1],
  ['empty', {}, { status: 200, text: '' }, 1],
  ['oversized', { sizeBytes: 1000 }, { status: 200, text: expect.stringMatching(/^.{1000}$/s) }, 1],
  ['truncated', {}, { status: 200, text: 'broken' }, 1],
  ['slow', { delayMs: 1 }, { status: 200, text: expect.stringContaining('"0":501') }, 1],
  ['reset-before', {}, 'broken', 0],
  ['reset-after', {}, 'broken', 1],
])('%s %j', async (kind, more, answer, effects) => {
  const sandbox = await Sandbox.start();
  const faultId = sandbox.faults.add({ endpoint: 'add-cart-item', kind, ...more });
  const answered = await answerOf(add(sandbox));
  if (answer === 'broken') expect(answered).toBe('broken');
  else expect(answered).toMatchObject(answer);
  expect(openCartItems(sandbox.ledger)).toHaveLength(effects);
  expect(sandbox.ledger.faultsStruck).toMatchObject([{ faultId, kind, endpoint: 'add-cart-item' }]);
  // It strikes once: the next call is answered as ever.
  expect((await add(sandbox)).status).toBe(200);
  await sandbox.close();
});
