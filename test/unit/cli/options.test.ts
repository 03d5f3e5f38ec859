/** Each option goes where it is heeded: the calls that a command line leads to. */
import { runHere } from '../../support/command-line';

const mockCalls: unknown[][] = [];
/** Takes any call, and is what it answers. */
const mockAny: object = new Proxy(
  {},
  {
    get: (_, name) => {
      if (typeof name === 'symbol' || name === 'then') return undefined;
      return name === 'sweeps' ? mockAny : (...args: unknown[]) => (mockCalls.push([name, ...args]), mockAny);
    },
  },
);
jest.mock('../../../src/cli/connect', () => ({ withSagas: (work: (sagas: object) => unknown) => work(mockAny) }));
jest.mock('../../../src/cli/journal-commands', () => ({
  withJournal: (how: unknown, work: (...of: unknown[]) => unknown) => work(how, 'its name'),
}));
jest.mock('../../../src/journal/correct-servers', () => ({
  correctServers: (...args: unknown[]) => (mockCalls.push(['correctServers', ...args]), {}),
}));
jest.mock('../../../src/journal/servers', () => ({
  closeServers: (...args: unknown[]) => mockCalls.push(['closeServers', ...args]),
}));
afterEach(() => mockCalls.splice(0));

const said = { by: 'ann', note: 'why' };
const saying = '--by ann --note why';
const [workflow, account] = ['changeOrder', 'AB-1'];

it.each<[line: string, name: string, ...args: unknown[]]>([
  [
    'list --state waiting --workflow change --server 9 --account AB-1 --step add-* --metadata a=b --where X --limit 3',
    'list',
    expect.objectContaining({
      ...{ state: 'waiting', workflow, server: 9, account, step: 'add-*', metadata: 'a=b', where: 'X', limit: 4 },
    }),
  ],
  [
    'inbox --by failure --kind stuck --step add-* --account AB-1 --older-than 2h --workflow change --limit 5',
    'inbox',
    { by: 'failure', kind: 'stuck', step: 'add-*', account, olderThanMs: 7_200_000, workflow, limit: 5 },
  ],
  ['status R --workflow change', 'get', 'R', workflow],
  ['watch change/R --follow', 'get', 'R', workflow],
  [`cancel R ${saying} --no-wait`, 'cancel', said],
  [`decide R markDone {"steps":["a"],"by":"bob"} --question q ${saying} --json`, 'get', 'R', undefined],
  [
    `decide R markDone {"steps":["a"],"by":"bob"} --question q ${saying} --json`,
    'decide',
    'markDone',
    { steps: ['a'], question: 'q', ...said },
  ],
  ['questions --where X --limit 7', 'waiting', { where: 'X' }, 7],
  [`decide-many skip --where X --rate 0.5/s --limit 3 ${saying}`, 'waiting', { kinds: ['stuck'], where: 'X' }, 3],
  [`hold on ${saying}`, 'hold', said],
  [`hold off ${saying}`, 'release', said],
  [
    'reconcile schedule --every 6h --no-clean --repair --days 7 --servers 0 --rate 0.5',
    'schedule',
    21_600_000,
    { clean: false, repair: true, days: 7, servers: 0, perSecond: 0.5 },
  ],
  ['reconcile now --no-repair --clean', 'start', { clean: true, repair: false }],
  ['reconcile now', 'start', {}],
  [
    `servers correct R 9 10 --from Q ${saying}`,
    'correctServers',
    { writes: true },
    'R',
    [9, 10],
    { from: 'Q', ...said },
  ],
  [`servers close 9 ${saying}`, 'closeServers', { writes: true }, { vmObjectId: 9 }, said],
  [`servers close --reference R ${saying}`, 'closeServers', { writes: true }, { reference: 'R' }, said],
])('%s', async (line, ...call) => {
  await runHere(line.split(' '));
  expect(mockCalls).toContainEqual(call);
});
