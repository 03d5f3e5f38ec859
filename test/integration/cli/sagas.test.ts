/** The command line against a real Temporal, a worker and the sandbox: what it prints, and how it ends. */
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig, rigForFile, until } from '../../support/rig';
import { saidThere } from '../../support/operator';
import { untilWaiting } from '../../support/sagas';
import { runCommand, startCommand, type Ended } from '../../support/command-line';

const rig = rigForFile();

const order = (args: readonly string[], request?: unknown): Promise<Ended> =>
  runCommand(args, rig.environment, request === undefined ? '' : JSON.stringify(request));

const startWaiting = async () => {
  const saga = await rig.sagas.start('switchPlan', switchRequest({ approval: 'always' }));
  await untilWaiting(saga);
  return saga;
};

interface Document {
  workflowId: string;
  state: string;
  existing?: boolean;
  result?: unknown;
  failure?: { type: string; report: unknown };
  report?: { state: string };
  waiting?: { id: string; kind: string; choices: string[] };
  progress?: { steps: { id: string }[] };
}
const documentIn = ({ out }: Ended) => JSON.parse(out) as Document;

describe('starting', () => {
  it('waits for the end of each kind of saga, tells its steps, and exits 0', async () => {
    const [provision, change, switched, firewalls] = await Promise.all([
      order(['provision', '-'], provisionRequest({ firewalls: [143], items: [{ password: 'geheim' }] })),
      order(['change', '-'], changeRequest()),
      order(['switch', '-'], switchRequest({ quoteOnly: true })),
      order(['firewalls', '-'], firewallsRequest()),
    ]);
    expect([provision, change, switched, firewalls].map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    expect(provision.out).toMatch(/started\n[^]*done +Add cart item 1\n[^]*done +Place the order\n[^]*is done\n/);
    expect(provision.out).toMatch(/servers: \[\{"vmObjectId":\d+,"firewalls":\[143\],"verified":true\}\]/);
    expect(provision.out + provision.err).not.toContain('geheim');
    expect(change.out).toMatch(/order: \{"status":"accepted"\}/);
    expect(switched.out).toMatch(/placed: false/);
    expect(firewalls.out).toMatch(/verified: true/);
  });

  it('exits 4 when it waits for a decision, and says which', async () => {
    const request = switchRequest({ approval: 'always' });
    const ended = await order(['switch', '-'], request);
    expect(ended.status).toBe(4);
    expect(ended.out).toContain(`order-saga cancel switch/${request.reference}`);
    const status = await order(['status', request.reference, '--json']);
    const { id } = documentIn(status).waiting!;
    expect(ended.out).toContain(
      `order-saga decide switch/${request.reference} approve '{"question":"${id}","by":"you"}'`,
    );
    expect(status.status).toBe(4);
    expect(documentIn(status)).toMatchObject({ state: 'approval', waiting: { choices: ['approve', 'reject'] } });
  });
});

it('watch says once that no worker answers, and goes on to the end when one comes', async () => {
  const later = await Rig.start({ worker: false });
  try {
    const saga = await later.sagas.start('switchPlan', switchRequest({ quoteOnly: true }));
    const watching = startCommand(['watch', saga.reference], later.environment);
    await watching.shows('no worker answers; is one running?', 'err');
    await later.startWorker();
    const { status, err } = await watching.ended;
    expect({ status, err }).toEqual({ status: 0, err: 'no worker answers; is one running?\n' });
  } finally {
    await later.close();
  }
});

it('decide takes a decision, and the saga goes on', async () => {
  const saga = await startWaiting();
  const { waiting } = documentIn(await order(['status', saga.reference, '--json']));
  const approval = JSON.stringify({ question: waiting!.id, by: 'ada' });
  const { status, out } = await order(['decide', saga.reference, 'approve', approval]);
  expect({ status, out }).toEqual({ status: 0, out: `${saga.workflowId}: approve is taken at quote\n` });
  expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve', by: 'ada' }] });
});

it('cancel waits until it is undone, and exits 0 also when asked again', async () => {
  const saga = await startWaiting();
  const first = await order(['cancel', ...saidThere, saga.reference]);
  expect(first.status).toBe(0);
  expect(first.out).toMatch(/cancellation is requested\n[^]*was cancelled, says op: a test/);
  const again = await order(['cancel', ...saidThere, saga.reference]);
  expect(again).toMatchObject({
    status: 0,
    out: expect.stringMatching(/was cancelled, says op: a test\n[^]*reversed: nothing of it is there/) as string,
  });
  expect(again.out.match(/was cancelled/g)).toHaveLength(1);
});

it('list prints a table, or one document', async () => {
  const saga = await startWaiting();
  await until(async () => {
    for await (const row of rig.sagas.list({ state: 'approval' })) if (row.workflowId === saga.workflowId) return true;
    return false;
  });
  const [table, json, first] = await Promise.all([
    order(['list', '--state', 'approval']),
    order(['list', '--state', 'approval', '--json']),
    order(['list', '--limit', '1']),
  ]);
  expect(table.out).toMatch(/^saga +state +step +waiting since +started +account\n/);
  expect(table.out).toMatch(new RegExp(`${saga.workflowId} +approval +quote +20`));
  const rows = JSON.parse(json.out) as Document[];
  expect(rows.find(({ workflowId }) => workflowId === saga.workflowId)).toMatchObject({ state: 'approval' });
  expect(first.out.trim().split('\n')).toHaveLength(2);
  expect(first.err).toContain('--limit');
});
