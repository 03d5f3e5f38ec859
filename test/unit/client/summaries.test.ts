import { summarize } from '../../../src/client/summaries';
import { requestSchemas } from '../../../src/domain/requests';
import type { WorkflowName } from '../../../src/domain/identity';

const secret = 'c2VjcmV0LXNlY3JldA==';
const longest = 'R'.repeat(128);

const requests: [WorkflowName, unknown][] = [
  [
    'provisionServers',
    {
      reference: longest,
      account: `AB-${'1'.repeat(252)}`,
      label: secret,
      items: Array.from({ length: 300 }, (_, index) => ({
        billing_cycle: 1,
        plan_id: 1_000_000 + index,
        plan_type: 'cloud_servers_highstorage_sas',
        quantity: 1_000_000,
        password: secret,
        os_template_id: 3,
        custom_ssh_key: secret,
        custom_script: secret,
      })),
      firewalls: Array.from({ length: 500 }, (_, index) => 1_000_000 + index),
    },
  ],
  [
    'changeOrder',
    {
      reference: longest,
      subscription_id: Number.MAX_SAFE_INTEGER,
      resources: Array.from({ length: 300 }, () => ({ resource_name: 'vm_antiddos', delta_value: '9'.repeat(900) })),
      approval: { above: 20 },
      guard: { maxTotal: 1e300 },
    },
  ],
  ['switchPlan', { reference: longest, subscription_id: 1, plan_id: 2, quoteOnly: true }],
  [
    'setFirewalls',
    { reference: longest, vmObjectId: 1, exactly: Array.from({ length: 900 }, (_, index) => index + 1) },
  ],
];

it.each(requests)('are short for the longest %s, and hold no secret', (workflow, input) => {
  const request = requestSchemas()[workflow]().parse(input);
  const { staticSummary, staticDetails } = summarize(workflow, request as never);
  // The server refuses a summary over 400 bytes.
  expect(Buffer.byteLength(staticSummary)).toBeLessThanOrEqual(400);
  expect(Buffer.byteLength(staticDetails)).toBeLessThan(1_100);
  expect(staticSummary + staticDetails).not.toContain(secret);
});

it('say what is bought', () => {
  const items = [
    { billing_cycle: 1 as const, plan_id: 17, plan_type: 'cloud_servers_standard', quantity: 2 },
    { billing_cycle: 1 as const, plan_id: 18 },
  ];
  const notes = summarize('provisionServers', { reference: 'PO-1', account: 'AB-1', items, firewalls: [143] });
  expect(notes.staticSummary).toBe('2 to 3 servers for AB-1 (PO-1)');
  expect(notes.staticDetails.split('\n')).toEqual([
    '- reference: PO-1',
    '- account: AB-1',
    '- servers: 2 to 3',
    '- plans: 2 × cloud_servers_standard 17, 1 × plan 18',
    '- firewalls: 143',
    // The Web UI hides the last line.
    '',
    '\u00a0',
  ]);
});

it('say that a change order is only quoted', () => {
  const resources = [{ resource_name: 'vm_backup' as const, delta_value: '1' }];
  const notes = summarize('changeOrder', { reference: 'C', subscription_id: 5512, resources, quoteOnly: true });
  expect(notes.staticSummary).toBe('subscription 5512: quote vm_backup 1 (C)');
  expect(notes.staticDetails).toContain('- quote only: nothing is placed');
});

it('say that a switch is only quoted', () => {
  const notes = summarize('switchPlan', { reference: 'S', subscription_id: 5512, plan_id: 21, quoteOnly: true });
  expect(notes.staticSummary).toBe('subscription 5512: quote a switch to plan 21 (S)');
});
