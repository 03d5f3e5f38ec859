/**
 * The stories that histories are made of, as the contract and the design tell them: which calls a saga makes, in which
 * order, what takes each of them back, and what it may ask in between. Nothing in here was read off the workflows.
 */
import type { EndpointName } from '../../../sandbox/endpoints';
import type { SagaFailureName } from '../../../src/domain/failures';
import type { WorkflowName } from '../../../src/domain/identity';

export interface Calls {
  is: 'calls';
  /** The step's id; `*` at its end stands for a number. */
  step: string;
  endpoint: EndpointName;
  calls: number;
  pivot?: true;
  /** How a refusal ends the saga; without it, a person is asked. */
  refusal?: SagaFailureName;
  skippable?: true;
  /** Made only for as many as got through the stage before. */
  follows?: true;
  /** The calls that undo it: each call by one of its own, or all by these calls in turn, begun even if it did nothing. */
  undo?: { each: EndpointName } | { armed: EndpointName[] };
}

/** A question that is part of the story. `servers` is asked only where nobody knows them. */
interface Asks {
  is: 'approval' | 'servers';
  step: string;
}

export type Stage = Calls | Asks;

export interface Story {
  name: string;
  workflow: Exclude<WorkflowName, 'cleanCart'>;
  request: Record<string, unknown>;
  /** A refusal is asked about, and ends nothing by itself. */
  asksWhenRefused?: true;
  /** Firewalls that the server has beforehand. */
  protectedBy?: number[];
  stages: Stage[];
}

function provision(name: string, items: { quantity?: number }[], firewalls?: number[]): Story {
  const servers = items.reduce((sum, { quantity = 1 }) => sum + quantity, 0);
  const protecting: Stage[] = [
    { is: 'servers', step: 'find-servers' },
    { is: 'calls', step: 'assign-firewalls-*', endpoint: 'assign-firewalls', calls: servers, skippable: true },
    {
      is: 'calls',
      step: 'verify-firewalls-*',
      endpoint: 'list-firewalls',
      calls: servers,
      skippable: true,
      follows: true,
    },
  ];
  return {
    name: `a provisioning of ${name}`,
    workflow: 'provisionServers',
    request: { items, ...(firewalls ? { firewalls } : {}) },
    stages: [
      {
        is: 'calls',
        step: 'add-cart-item-*',
        endpoint: 'add-cart-item',
        calls: items.length,
        refusal: 'OrderRejected',
        undo: { each: 'delete-cart-item' },
      },
      { is: 'calls', step: 'place-order', endpoint: 'place-order', calls: 1, pivot: true, refusal: 'OrderRejected' },
      ...(firewalls ? protecting : []),
    ],
  };
}

function agreed(
  workflow: 'changeOrder' | 'switchPlan',
  { step, quote, place }: { step: string; quote: EndpointName; place: EndpointName },
): Story[] {
  const noun = workflow === 'changeOrder' ? 'a change order' : 'a plan switch';
  const quoting: Stage = { is: 'calls', step: 'quote', endpoint: quote, calls: 1, refusal: 'OrderRejected' };
  const placing: Stage = { is: 'calls', step, endpoint: place, calls: 1, pivot: true, refusal: 'OrderRejected' };
  return [
    { name: noun, workflow, request: {}, stages: [quoting, placing] },
    {
      name: `${noun} that needs approval`,
      workflow,
      request: { approval: 'always' },
      // An approval binds a quote: it is quoted again before it is placed.
      stages: [quoting, { is: 'approval', step }, quoting, placing],
    },
  ];
}

function firewalls(name: string, request: Story['request'], changes: { assigns?: true; unassigns?: true }): Story {
  const list = { is: 'calls', endpoint: 'list-firewalls', calls: 1 } as const;
  const change = { is: 'calls', calls: 1, refusal: 'FirewallsRejected' } as const;
  const assigning: Stage = {
    ...change,
    step: 'assign-firewalls',
    endpoint: 'assign-firewalls',
    undo: { armed: ['list-firewalls', 'unassign-firewalls'] },
  };
  const unassigning: Stage = {
    ...change,
    step: 'unassign-firewalls',
    endpoint: 'unassign-firewalls',
    undo: { armed: ['assign-firewalls'] },
  };
  return {
    name: `firewalls ${name}`,
    workflow: 'setFirewalls',
    request,
    protectedBy: [150],
    stages: [
      { ...list, step: 'list-firewalls', refusal: 'FirewallsRejected' },
      ...(changes.assigns ? [assigning] : []),
      ...(changes.unassigns ? [unassigning] : []),
      { ...list, step: 'verify-firewalls', skippable: true },
    ],
  };
}

const quoteOnly: Story = {
  name: 'a quote of a plan switch',
  workflow: 'switchPlan',
  request: { quoteOnly: true },
  stages: [{ is: 'calls', step: 'quote', endpoint: 'quote-plan-switch', calls: 1, refusal: 'OrderRejected' }],
};

function thatAsks(story: Story): Story {
  return {
    ...story,
    name: `${story.name} that asks when it is refused`,
    request: { ...story.request, onRefusal: 'ask' },
    asksWhenRefused: true,
  };
}

const changes = agreed('changeOrder', {
  step: 'place-change-order',
  quote: 'quote-change-order',
  place: 'place-change-order',
});

export const stories: readonly Story[] = [
  provision('one item', [{}]),
  provision('2 items with firewalls', [{}, {}], [143]),
  thatAsks(provision('2 items', [{}, {}])),
  ...changes.slice(0, 1).map(thatAsks),
  provision('one item of quantity 3 with firewalls', [{ quantity: 3 }], [143, 144]),
  ...changes,
  ...agreed('switchPlan', { step: 'switch-plan', quote: 'quote-plan-switch', place: 'switch-plan' }),
  quoteOnly,
  firewalls('to assign', { assign: [143] }, { assigns: true }),
  firewalls('to swap', { assign: [143], unassign: [150] }, { assigns: true, unassigns: true }),
  firewalls('to be exactly these', { exactly: [144] }, { assigns: true, unassigns: true }),
];

export function endpointsOf({ stages }: Story): EndpointName[] {
  const named = stages.flatMap((stage) => {
    if (stage.is !== 'calls') return [];
    const undoing = stage.undo === undefined ? [] : 'each' in stage.undo ? [stage.undo.each] : stage.undo.armed;
    return [stage.endpoint, ...undoing];
  });
  return [...new Set(named)];
}
