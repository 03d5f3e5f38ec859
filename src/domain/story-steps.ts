/**
 * The steps of each story in their order, with the calls that each makes and the calls that put it back: what is still
 * to be done of a saga, as far as that can be known before it is done. The stories themselves are in `src/workflows`; a
 * test decides real sagas and compares what they did with this.
 */
import type { WorkflowName } from './identity';
import { serversOrdered } from './plan-types';
import type { StepView } from './progress';
import type { ProviderCall } from './provider-calls';
import { needsApproval } from './quotes';
import type {
  ChangeOrderRequest,
  ProvisionServersRequest,
  RequestOf,
  SetFirewallsRequest,
  SwitchPlanRequest,
} from './requests';

export interface PlannedCall {
  call: ProviderCall;
  /** Made only then. */
  when?: string;
}

export interface PlannedStep {
  /** The step's id; where its number is not known yet, what stands before the number. */
  step: string;
  title: string;
  calls: readonly PlannedCall[];
  /** Done only then. */
  when?: string;
  /** Once for each of an unknown number. */
  each?: true;
  pivot?: true;
}

/** What is known of a saga while it waits. */
export interface Story {
  workflow: WorkflowName;
  /** As it was first; undefined where it has not been checked yet. */
  request: unknown;
  steps: readonly Pick<StepView, 'id' | 'title' | 'status'>[];
  /** The pivot has happened, or a person says so now. */
  isPlaced: boolean;
  /** A call may have left something behind of which this run does not know. */
  inDoubt: boolean;
}

export const pivotSteps: Partial<Record<WorkflowName, string>> = {
  provisionServers: 'place-order',
  changeOrder: 'place-change-order',
  switchPlan: 'switch-plan',
};

const calls: Readonly<Record<string, readonly ProviderCall[]>> = {
  'add-cart-item': ['addCartItem'],
  'place-order': ['placeOrder'],
  'find-servers': ['findServers'],
  'assign-firewalls': ['assignFirewalls'],
  'unassign-firewalls': ['unassignFirewalls'],
  'list-firewalls': ['listFirewalls'],
  'verify-firewalls': ['listFirewalls'],
  'verify-assigned': ['listFirewalls'],
  'delete-cart-item': ['deleteCartItem'],
  'place-change-order': ['placeChangeOrder'],
  'switch-plan': ['switchPlan'],
};

const stillThere = 'where the list still shows them, and no other saga relies on them';

const undoCalls: Readonly<Record<string, readonly PlannedCall[]>> = {
  'add-cart-item': [{ call: 'deleteCartItem' }],
  'assign-firewalls': [
    { call: 'listFirewalls' },
    { call: 'assignFirewalls', when: 'where the list lacks one that was unassigned instead' },
    { call: 'unassignFirewalls', when: stillThere },
  ],
  'unassign-firewalls': [{ call: 'assignFirewalls' }],
};

const whereAny = 'where there is any';

const stemOf = (step: string) => step.replace(/-\d+$/, '');

/** None for a step of our own bookkeeping. */
export function callsOf(workflow: WorkflowName, step: string): readonly PlannedCall[] {
  if (step === 'quote') return [{ call: workflow === 'switchPlan' ? 'quotePlanSwitch' : 'quoteChangeOrder' }];
  return (calls[stemOf(step)] ?? []).map((call) => ({ call }));
}

/** What puts back what a step did. @param isDone where it is not, there may be nothing to put back */
export function undoCallsOf(step: string, isDone: boolean): readonly PlannedCall[] {
  const when = 'where it was sent';
  return (undoCalls[stemOf(step)] ?? []).map((one) => (isDone || one.when !== undefined ? one : { ...one, when }));
}

/**
 * What is left of the story from its first step to its last, whoever decides what; see `preview.ts` for what a decision
 * leaves out.
 */
export function stepsToDo(story: Story): PlannedStep[] {
  const { workflow, request } = story;
  if (request === undefined) return [];
  const status = (id: string) => story.steps.find((step) => step.id === id)?.status;
  const isOver = ({ step }: PlannedStep) => ['done', 'skipped'].includes(status(step) ?? '');
  return planners[workflow](story, request as never).filter((planned) => !isOver(planned));
}

const planners: { [W in WorkflowName]: (story: Story, request: RequestOf[W]) => PlannedStep[] } = {
  provisionServers: provisioning,
  changeOrder: (story, request) => quoted(story, request, 'Quote the change order', 'Place the change order'),
  switchPlan: (story, request) => quoted(story, request, 'Quote the plan switch', 'Switch the plan'),
  setFirewalls: settingFirewalls,
  cleanCart: ({ steps }) => {
    const known = steps.filter(({ id }) => id.startsWith('delete-cart-item-'));
    if (known.length > 0) return known.map(({ id, title }) => plan('cleanCart', id, title));
    const each = plan('cleanCart', 'delete-cart-item', 'Delete each cart item that is in no order');
    return [{ ...each, each: true, when: whereAny }];
  },
};

function plan(workflow: WorkflowName, step: string, title: string): PlannedStep {
  return { step, title, calls: callsOf(workflow, step) };
}

function provisioning({ steps, isPlaced, inDoubt }: Story, request: ProvisionServersRequest): PlannedStep[] {
  const { items, firewalls = [], approval } = request;
  const of = (step: string, title: string) => plan('provisionServers', step, title);
  const { most, least } = serversOrdered(items);
  const readsCart = steps.some(({ id, status }) => id === 'read-cart' && status === 'stuck');
  return [
    ...(isPlaced
      ? []
      : [
          ...(needsApproval({ total: most }, approval) ? [of('approve', 'Have the purchase approved')] : []),
          ...items.map((_, index) => of(`add-cart-item-${index + 1}`, `Add cart item ${index + 1}`)),
          { ...of('place-order', 'Place the order'), pivot: true as const },
        ]),
    ...((inDoubt && !isPlaced) || readsCart ? [strayItems()] : []),
    ...(most === 0 ? [] : findingServers(steps)),
    ...(most === 0 || firewalls.length === 0 ? [] : protecting(steps, least === 0)),
  ];
}

/** Of other calls and runs: which ones, only the journal knows. */
export function strayItems(): PlannedStep {
  const title = 'Delete what else was put into the cart for it and is in no order';
  return { ...plan('provisionServers', 'delete-cart-item', title), each: true, when: whereAny };
}

function findingServers(steps: Story['steps']): PlannedStep[] {
  if (steps.some(({ id }) => id.startsWith('assign-firewalls-'))) return [];
  const when = 'where a server directory is configured, and nothing else names the servers';
  return [{ ...plan('provisionServers', 'find-servers', 'Learn the object ids of the new servers'), when }];
}

function protecting(steps: Story['steps'], isPerhapsNone: boolean): PlannedStep[] {
  const known = steps.filter(({ id }) => /^(assign|verify)-firewalls-/.test(id));
  const byKind = (kind: string) => known.filter(({ id }) => id.startsWith(kind));
  const leftOut = new Set(byKind('assign').flatMap(({ id, status }) => (status === 'skipped' ? [numberOf(id)] : [])));
  const protectedOnes = [...byKind('assign'), ...byKind('verify').filter(({ id }) => !leftOut.has(numberOf(id)))];
  if (known.length > 0) return protectedOnes.map(({ id, title }) => plan('provisionServers', id, title));
  const each = {
    each: true as const,
    ...(isPerhapsNone ? { when: 'where the order brings servers' } : {}),
  };
  return [
    { ...plan('provisionServers', 'assign-firewalls', 'Assign firewalls to each new server'), ...each },
    { ...plan('provisionServers', 'verify-firewalls', 'Verify firewalls of each new server'), ...each },
  ];
}

function numberOf(step: string): string | undefined {
  return /-(\d+)$/.exec(step)?.[1];
}

function quoted(
  { workflow, isPlaced }: Story,
  { quoteOnly }: Pick<ChangeOrderRequest | SwitchPlanRequest, 'quoteOnly'>,
  quoteTitle: string,
  pivotTitle: string,
): PlannedStep[] {
  const quote = plan(workflow, 'quote', quoteTitle);
  if (quoteOnly) return [quote];
  return isPlaced ? [] : [quote, { ...plan(workflow, pivotSteps[workflow] ?? '', pivotTitle), pivot: true }];
}

function settingFirewalls(
  { steps }: Story,
  { exactly, assign = [], unassign = [] }: SetFirewallsRequest,
): PlannedStep[] {
  const of = (step: string, title: string) => plan('setFirewalls', step, title);
  const isTried = (id: string) => steps.some((step) => step.id === id && !['pending', 'skipped'].includes(step.status));
  /** What the first list shows decides it, and it is not told before. */
  const perhaps = (planned: PlannedStep, when: string) =>
    isTried(planned.step) ? planned : { ...planned, when: `where the server ${when}` };
  return [
    of('list-firewalls', 'List the firewalls that are assigned'),
    ...((exactly ?? assign).length > 0 ? [perhaps(of('assign-firewalls', 'Assign firewalls'), 'lacks one')] : []),
    ...(exactly || unassign.length > 0
      ? [perhaps(of('unassign-firewalls', 'Unassign firewalls'), 'has one that it is not to have')]
      : []),
    of('verify-firewalls', 'Verify the firewalls'),
  ];
}
