/** The note that an operator sees beside a run: what is bought and for whom; never a password, a key or a script. */
import type { WorkflowName } from '../domain/identity';
import { countOf, serversOrdered, type PlanTypes } from '../domain/plan-types';
import { namesOfFirst } from '../domain/problems';
import type { RequestOf } from '../domain/requests';

/** The server takes 400 bytes of summary and limits the details to some KB; both must be quick to read. */
const summaryMax = 200;
const detailsMax = 1_000;
const listedMax = 8;

export function summarize<W extends WorkflowName>(
  workflow: W,
  request: RequestOf[W],
  planTypes: PlanTypes = {},
): { staticSummary: string; staticDetails: string } {
  const { summary, details = {} } = writers[workflow](request, planTypes);
  const all: Details = { reference: request.reference, ...details };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`]));
  return {
    staticSummary: `${summary} (${request.reference})`.slice(0, summaryMax),
    // Markdown. The Web UI's frame cuts off the last line: this one is empty.
    staticDetails: `${lines.join('\n').slice(0, detailsMax)}\n\n\u00a0`,
  };
}

/** Those that are undefined are left out. */
type Details = Record<string, string | number | undefined>;

type Writer<W extends WorkflowName> = (
  request: RequestOf[W],
  planTypes: PlanTypes,
) => { summary: string; details?: Details };

const writers: { [W in WorkflowName]: Writer<W> } = {
  provisionServers: ({ account, items, firewalls }, planTypes) => {
    const servers = countOf(serversOrdered(items, planTypes));
    const plans = items.map(({ plan_id = '', plan_type = 'plan', quantity = 1 }) =>
      `${quantity} × ${plan_type} ${plan_id}`.trimEnd(),
    );
    const summary = `${servers} ${servers === '1' ? 'server' : 'servers'} for ${account.slice(0, 40)}`;
    const details = { account: account.slice(0, 40), servers, plans: first(plans), firewalls: first(firewalls) };
    return { summary, details };
  },
  changeOrder: ({ subscription_id, account, resources, guard, approval, quoteOnly }) => {
    const changes = first(resources.map((one) => `${one.resource_name} ${one.delta_value.slice(0, 20)}`));
    const summary = `subscription ${subscription_id}: ${quoteOnly ? 'quote ' : ''}${changes}`;
    const about = { subscription: subscription_id, account: account?.slice(0, 40), resources: changes };
    const only = quoteOnly && 'nothing is placed';
    return { summary, details: { ...about, ...conditions(only, guard, approval) } };
  },
  switchPlan: ({ subscription_id, plan_id, guard, approval, quoteOnly }) => {
    const summary = `subscription ${subscription_id}: ${quoteOnly ? 'quote a switch' : 'switch'} to plan ${plan_id}`;
    const only = quoteOnly && 'nothing is switched';
    return { summary, details: { subscription: subscription_id, plan: plan_id, ...conditions(only, guard, approval) } };
  },
  setFirewalls: ({ vmObjectId, assign, unassign, exactly }) => {
    const wanted = [
      ...(exactly ? [`exactly ${first(exactly) ?? 'none'}`] : []),
      ...(assign?.length ? [`assign ${first(assign)}`] : []),
      ...(unassign?.length ? [`unassign ${first(unassign)}`] : []),
    ].join(', ');
    return { summary: `server ${vmObjectId}: ${wanted}`, details: { server: vmObjectId, firewalls: wanted } };
  },
  cleanCart: ({ reference }) => ({ summary: `clean up after provision/${reference}` }),
};

/** The first few of many; undefined where there are none. */
function first(names: readonly (string | number)[] = []): string | undefined {
  return names.length === 0 ? undefined : namesOfFirst(names, listedMax);
}

type Conditions = Pick<RequestOf['changeOrder'], 'guard' | 'approval'>;

function conditions(only: string | false | undefined, guard: Conditions['guard'], approval: Conditions['approval']) {
  const above = typeof approval === 'object' && 'above' in approval ? `above ${approval.above}` : 'always';
  return {
    'quote only': only || undefined,
    'at most': guard?.maxTotal,
    approval: approval === undefined || approval === 'never' ? undefined : above,
  };
}
