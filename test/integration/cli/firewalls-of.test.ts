/** `order-saga firewalls-of SERVER`: a look that changes nothing. */
import { rigForFile } from '../../support/rig';
import { runHere } from '../../support/command-line';

const rig = rigForFile({ sandbox: { anyServer: false } });
beforeAll(() => {
  rig.sandbox.addServer({ vmObjectId: 31, firewalls: [143, 144] });
  rig.sandbox.addServer({ vmObjectId: 32, firewalls: [] });
});
afterEach(() => {
  rig.sandbox.faults.clear();
  rig.sandbox.configure({ firewallListResponse: 'objects' });
});

const look = (...args: string[]) => runHere(['firewalls-of', ...args], '', rig.environment);

it('tells them, and asks the provider for nothing else', async () => {
  expect(await look('31')).toEqual({ status: 0, out: 'server 31: 143, 144\n', err: '' });
  expect(await look('32')).toMatchObject({ status: 0, out: 'server 32: no firewalls\n' });
  const { calls, entries } = rig.sandbox.ledger;
  expect(new Set(calls.map(({ endpoint }) => endpoint))).toEqual(new Set(['list-firewalls']));
  expect(entries).toEqual([]);
});

it('exits 1 where the provider does not tell, and says why', async () => {
  expect(await look('99')).toMatchObject({
    status: 1,
    out: '',
    err: expect.stringMatching(/^the firewalls of server 99 are not known: Rejected: /) as string,
  });
  rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
  const { status, out } = await look('31', '--json');
  expect(status).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ error: { name: 'FirewallsUnknownError' } });
});
