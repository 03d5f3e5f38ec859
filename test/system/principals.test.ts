/**
 * Who has asked something of a saga, as a Temporal server says that authenticates its callers: it is in the journal, in
 * `status` and in `journal lost`.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { whyNotBuilt } from '../../deploy/stack/programs';
import { startStack } from '../../deploy/stack/stack';
import { runHere } from '../support/command-line';
import { folderForFile } from '../support/folder';
import { unlessLacking } from '../support/left-out';
import { changeRequest, provisionRequest } from '../support/requests';
import { Rig } from '../support/rig';
import { resetToBeginning } from '../support/web-ui';
import { answer, outcomeOf, untilWaiting } from '../support/sagas';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const inBase64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(sub: string): string {
  const claims = { sub, permissions: ['temporal-system:admin'], exp: Math.floor(Date.now() / 1_000) + 3_600 };
  const signed = `${inBase64({ alg: 'ES256', typ: 'JWT', kid: 'k' })}.${inBase64(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

const as = (name: string) => ({ authorization: `Bearer ${tokenOf(name)}` });

unlessLacking(whyNotBuilt())('a Temporal server that authenticates its callers', () => {
  const folder = folderForFile();
  const closers: (() => Promise<void>)[] = [];
  let rig: Rig;
  let ann: Client;
  beforeAll(async () => {
    const key = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'ES256', use: 'sig' };
    const keys = folder.write('keys.json', JSON.stringify({ keys: [key] }));
    const stack = await startStack({ authorizer: { keys, token: tokenOf('the set-up') } });
    closers.unshift(() => stack.stop());
    rig = await Rig.start({ address: stack.address, metadata: as('backend') });
    closers.unshift(() => rig.close());
    const connection = await Connection.connect({ address: stack.address, metadata: as('ann') });
    closers.unshift(() => connection.close());
    ann = new Client({ connection, namespace: rig.namespace, identity: 'ann at her desk' });
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  const run = (...args: string[]) =>
    runHere(args, '', { ...rig.environment, TEMPORAL_GRPC_META_AUTHORIZATION: as('ann').authorization });
  const known = (name: string) => `jwt ${name}, as Temporal has authenticated`;

  it('is named who cancelled a saga without a word', async () => {
    const saga = await rig.sagas.change(changeRequest({ reference: 'CH-1', approval: 'always' }));
    await untilWaiting(saga, 'approval');
    await ann.workflow.getHandle(saga.workflowId).cancel();
    await outcomeOf(saga);
    const { out } = await run('record', 'CH-1');
    expect(out).toContain('cancelled; nobody said who or why');
    expect(out).toContain(`: cancelled: ${known('ann')}; identity ann at her desk\n`);
    expect((await run('status', 'CH-1')).out).toContain(`: started: ${known('backend')}`);
    expect((await run('record', 'CH-1', '--timeline')).out).toContain(`asked       started: ${known('backend')}`);
  });

  it('is named who reset a saga, and the word of who cancelled it comes from the same', async () => {
    const saga = await rig.sagas.change(changeRequest({ reference: 'CH-2', approval: 'always' }));
    await untilWaiting(saga, 'approval');
    await resetToBeginning(ann, saga);
    await untilWaiting(saga, 'approval');
    await saga.cancel({ by: 'eve', note: 'too dear' });
    await outcomeOf(saga);
    const { out } = await run('record', 'CH-2', '--timeline');
    expect(out).toContain(`asked       reset: ${known('ann')}`);
    for (const what of ['signalled (cancelledBy)', 'cancelled'])
      expect(out).toContain(`asked       ${what}: ${known('backend')}`);
  });

  it('is named who terminated a saga, once a sweep has found it; who decided is no worker', async () => {
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(provisionRequest({ reference: 'PO-1' }));
    await untilWaiting(saga, 'stuck');
    await answer(saga, 'retry', { by: 'bob' });
    await untilWaiting(saga, 'stuck');
    await ann.workflow.getHandle(saga.workflowId).terminate('enough of it');
    const ended = `: terminated: ${known('ann')}; identity ann at her desk: enough of it\n`;
    expect((await run('journal', 'lost')).out).toContain(ended);
    expect((await run('record', 'PO-1')).out).not.toContain(ended);
    await run('reconcile', 'now', '--no-clean');
    expect((await run('record', 'PO-1')).out).toContain(ended);
    const { out } = await run('record', 'PO-1', '--json');
    const { deeds } = JSON.parse(out) as { deeds: { what: string; name?: string; principal?: object }[] };
    expect(deeds.filter(({ what }) => what === 'decided')).toEqual([
      expect.not.objectContaining({ principal: expect.anything() as object }),
    ]);
  });
});
