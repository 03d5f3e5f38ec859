/** The names under which a saga is known outside. They end up in histories and dashboards: they never change. */
import { z } from 'zod';
import { lazy } from './lazy';

export const workflowNames = ['provisionServers', 'changeOrder', 'switchPlan', 'setFirewalls', 'cleanCart'] as const;
export type WorkflowName = (typeof workflowNames)[number];

export const defaultTaskQueue = 'order-saga';

const idPrefixes: Record<WorkflowName, string> = {
  provisionServers: 'provision',
  changeOrder: 'change',
  switchPlan: 'switch',
  setFirewalls: 'firewalls',
  cleanCart: 'clean',
};

/** The one workflow id of a reference: Temporal never runs two at once, which is the first half of "never twice". */
export function workflowIdOf(workflow: WorkflowName, reference: string): string {
  return `${idPrefixes[workflow]}/${reference}`;
}

/** The inverse of {@link workflowIdOf}; undefined for an id that is not ours. */
export function readWorkflowId(workflowId: string): { workflow: WorkflowName; reference: string } | undefined {
  const prefixed = workflowId.indexOf('/') + 1;
  const workflow = workflowNames.find((name) => workflowId.slice(0, prefixed) === workflowIdOf(name, ''));
  const reference = referenceSchema().safeParse(workflowId.slice(prefixed));
  return workflow && reference.success ? { workflow, reference: reference.data } : undefined;
}

/**
 * The memo of a run that was started with its search attributes. A workflow does not look for the attributes
 * themselves: a server that has just learnt their names shows them under other ones for a moment, and a replay would
 * see what the first look did not.
 */
export const attributesGivenMemo = 'searchAttributesGiven';

export const referenceSchema = lazy(() =>
  z
    .string('must be a string: your own name for this order')
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -'),
);

/** One name for one account: `ab-7` and `AB-07` are `AB-7`. The provider gets it as it was written. */
export function accountName(account: string): string {
  // A run that was started by hand may have written another thing: its request is wrong, and is refused elsewhere.
  const [, prefix, digits] = /^(..)-(\d+)$/.exec(account) ?? [];
  if (prefix === undefined || digits === undefined) return account;
  return `${prefix.toUpperCase()}-${digits.replace(/^0+(?=\d)/, '')}`;
}
