/** The line that an operator sees beside a run: what is bought and for whom; never a password, a key or a script. */
import type { WorkflowName } from '../domain/identity';
import { countOf, serversOrdered, type PlanTypes } from '../domain/plan-types';
import { namesOfFirst } from '../domain/problems';
import type { RequestOf } from '../domain/requests';

/** The server takes 400 bytes of summary; it must be quick to read. */
const summaryMax = 200;
const listedMax = 8;

export function summarize<W extends WorkflowName>(workflow: W, request: RequestOf[W], planTypes?: PlanTypes): string {
  return `${writers[workflow](request, planTypes)} (${request.reference})`.slice(0, summaryMax);
}

const writers: { [W in WorkflowName]: (request: RequestOf[W], planTypes?: PlanTypes) => string } = {
  provisionServers: ({ account, items }, planTypes) => {
    const servers = countOf(serversOrdered(items, planTypes));
    return `${servers} ${servers === '1' ? 'server' : 'servers'} for ${account.slice(0, 40)}`;
  },
  changeOrder: ({ subscription_id, resources, quoteOnly }) => {
    const changes = resources.map((one) => `${one.resource_name} ${one.delta_value.slice(0, 20)}`);
    return `subscription ${subscription_id}: ${quoteOnly ? 'quote ' : ''}${namesOfFirst(changes, listedMax)}`;
  },
  switchPlan: ({ subscription_id, plan_id, quoteOnly }) =>
    `subscription ${subscription_id}: ${quoteOnly ? 'quote a switch' : 'switch'} to plan ${plan_id}`,
  setFirewalls: ({ vmObjectId, assign, unassign, exactly }) => {
    const wanted = [
      ...(exactly ? [`exactly ${namesOfFirst(exactly, listedMax) || 'none'}`] : []),
      ...(assign?.length ? [`assign ${namesOfFirst(assign, listedMax)}`] : []),
      ...(unassign?.length ? [`unassign ${namesOfFirst(unassign, listedMax)}`] : []),
    ];
    return `server ${vmObjectId}: ${wanted.join(', ')}`;
  },
  cleanCart: ({ reference }) => `clean up after provision/${reference}`,
};
