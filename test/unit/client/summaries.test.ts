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
      items: Array.from({ length: 200 }, (_, index) => ({
        billing_cycle: 1,
        plan_id: 1_000_000 + index,
        plan_type: 'cloud_servers_highstorage_sas',
        password: secret,
        os_template_id: 3,
        custom_ssh_key: secret,
        custom_script: secret,
      })),
      firewalls: Array.from({ length: 200 }, (_, index) => 1_000_000 + index),
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

it.each(requests)('is short for the longest %s, and holds no secret', (workflow, input) => {
  const request = requestSchemas()[workflow]().parse(input);
  const summary = summarize(workflow, request as never);
  // The server refuses a summary over 400 bytes.
  expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(400);
  expect(summary).not.toContain(secret);
});
