/**
 * The note that an operator sees beside a run: a line of summary and a few of details. They say what is bought and for
 * whom; never a password, a key or a script. Temporal encrypts both like payloads, but they are shown on screens that
 * others can see.
 */
import type { WorkflowName } from '../domain/identity';
import { countOf, serversOrdered } from '../domain/plan-types';
import { namesOfFirst } from '../domain/problems';
import type { RequestOf } from '../domain/requests';

/** The server takes 400 bytes of summary and limits the details to some KB; both must be quick to read. */
const summaryMax = 200;
const detailsMax = 1_000;
const listedMax = 8;

export interface StaticSummary {
  staticSummary: string;
  /** Markdown. */
  staticDetails: string;
}

export function summarize<W extends WorkflowName>(
  workflow: W,
  request: RequestOf[W],
  planTypesMore: readonly string[] = [],
): StaticSummary {
  const { summary, lines } = writers[workflow](request, planTypesMore);
  const rows: [string, string][] = [['reference', request.reference], ...lines];
  return {
    staticSummary: `${summary} (${request.reference})`.slice(0, summaryMax),
    // The Web UI's frame cuts off the last line: this one is empty.
    staticDetails: `${rows
      .map(([name, value]) => `- ${name}: ${value}`)
      .join('\n')
      .slice(0, detailsMax)}\n\n\u00a0`,
  };
}

type Writer<W extends WorkflowName> = (
  request: RequestOf[W],
  planTypesMore: readonly string[],
) => { summary: string; lines: [string, string][] };

const writers: { [W in WorkflowName]: Writer<W> } = {
  provisionServers: ({ account, items, firewalls }, planTypesMore) => {
    const servers = countOf(serversOrdered(items, planTypesMore));
    const plans = items.map(({ plan_id, plan_type, quantity }) =>
      [`${quantity ?? 1} ×`, plan_type ?? 'plan', ...(plan_id === undefined ? [] : [String(plan_id)])].join(' '),
    );
    return {
      summary: `${servers} ${servers === '1' ? 'server' : 'servers'} for ${account.slice(0, 40)}`,
      lines: [
        ['account', account.slice(0, 40)],
        ['servers', servers],
        ['plans', namesOfFirst(plans, listedMax)],
        ...(firewalls?.length ? [line('firewalls', namesOfFirst(firewalls, listedMax))] : []),
      ],
    };
  },
  changeOrder: ({ subscription_id, account, resources, guard, approval, quoteOnly }) => {
    const changes = namesOfFirst(
      resources.map(({ resource_name, delta_value }) => `${resource_name} ${delta_value.slice(0, 20)}`),
      listedMax,
    );
    return {
      summary: `subscription ${subscription_id}: ${quoteOnly ? 'quote ' : ''}${changes}`,
      lines: [
        ['subscription', String(subscription_id)],
        ...(account === undefined ? [] : [line('account', account.slice(0, 40))]),
        ['resources', changes],
        ...(quoteOnly ? [line('quote only', 'nothing is placed')] : []),
        ...conditions(guard, approval),
      ],
    };
  },
  switchPlan: ({ subscription_id, plan_id, guard, approval, quoteOnly }) => ({
    summary: `subscription ${subscription_id}: ${quoteOnly ? 'quote a switch' : 'switch'} to plan ${plan_id}`,
    lines: [
      ['subscription', String(subscription_id)],
      ['plan', String(plan_id)],
      ...(quoteOnly ? [line('quote only', 'nothing is switched')] : []),
      ...conditions(guard, approval),
    ],
  }),
  setFirewalls: ({ vmObjectId, assign, unassign, exactly }) => {
    const wanted = [
      ...(exactly ? [`exactly ${namesOfFirst(exactly, listedMax) || 'none'}`] : []),
      ...(assign?.length ? [`assign ${namesOfFirst(assign, listedMax)}`] : []),
      ...(unassign?.length ? [`unassign ${namesOfFirst(unassign, listedMax)}`] : []),
    ].join(', ');
    return {
      summary: `server ${vmObjectId}: ${wanted}`,
      lines: [
        ['server', String(vmObjectId)],
        ['firewalls', wanted],
      ],
    };
  },
  cleanCart: ({ reference }) => ({ summary: `clean up after provision/${reference}`, lines: [] }),
};

function conditions(
  guard: RequestOf['changeOrder']['guard'],
  approval: RequestOf['changeOrder']['approval'],
): [string, string][] {
  const limit = guard?.maxTotal === undefined ? [] : [line('at most', String(guard.maxTotal))];
  if (approval === undefined || approval === 'never') return limit;
  const above = typeof approval === 'object' && 'above' in approval ? `above ${approval.above}` : 'always';
  return [...limit, line('approval', above)];
}

function line(name: string, value: string): [string, string] {
  return [name, value];
}
