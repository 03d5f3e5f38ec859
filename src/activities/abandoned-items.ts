/** Cart items that no run answers for any more: looked up in the histories of a reference's runs, not at the provider. */
import { Context } from '@temporalio/activity';
import { workflowIdOf, type WorkflowName } from '../domain/identity';
import type { Asked, Call } from './call';
import { emptyCartHistory, readCart, type CartHistory } from './cart-history';
import { currentRun } from './pivot-guard';
import { OwnFailure } from './translate-failure';

export interface FindAbandonedItems extends Asked {
  reference: string;
}

export interface AbandonedItems {
  /** False: no provisioning of this reference is known. */
  known: boolean;
  /** True: one of the runs goes on, and may add more. */
  running: boolean;
  /** Added, never deleted, and in no order. */
  items: number[];
  /** Added, never deleted, and sent with an order of which nobody knows whether it was placed. */
  perhapsOrdered: number[];
  /** Calls to add an item whose outcome was never learned. */
  doubtfulAdds: number;
}

export interface ReadEarlierRuns extends Asked {
  workflow: WorkflowName;
  reference: string;
  firstRunId: string;
}

export interface EarlierRuns {
  /** One of them placed the order, change order or switch, or may have. */
  perhapsPlaced: boolean;
  /** Added, never deleted, and in no order of which it is known that it was placed. */
  items: number[];
  /** Items of orders that were placed, or may have been: they are not to be deleted. Not in the histories of older runs. */
  ordered?: number[];
  /** Calls to add an item whose outcome was never learned. */
  doubtfulAdds: number;
}

export function createAbandonedItemsActivities(call: Call) {
  return {
    /** No provider call. Reads every run that the server still keeps: of the provisioning, and of clean-ups after it. */
    findAbandonedItems(input: FindAbandonedItems): Promise<AbandonedItems> {
      return call('reading', input, () => orNotSent(input, () => find(input)));
    },

    /**
     * No provider call. What the runs of this saga did, for one that came from a reset: the run that was cut short has no
     * outcome. The first run has nobody to answer for, and reads nothing. One that was started again has nobody either: the run
     * before it ended with an outcome of its own.
     */
    readEarlierRuns(input: ReadEarlierRuns): Promise<EarlierRuns> {
      return call('reading', input, async () => {
        if (currentRun().runId === input.firstRunId) return { perhapsPlaced: false, items: [], doubtfulAdds: 0 };
        return orNotSent(input, () => readEarlier(input));
      });
    },
  };
}

/** @throws OwnFailure `NotSent`: it may be tried again */
async function orNotSent<T>({ reference }: { reference: string }, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    throw new OwnFailure('NotSent', `the histories of ${reference} could not be read: ${String(error)}`);
  }
}

async function readEarlier({ workflow, reference }: ReadEarlierRuns): Promise<EarlierRuns> {
  const { cart } = await readRuns([workflowIdOf(workflow, reference)]);
  return {
    perhapsPlaced: cart.perhapsPlaced,
    items: openItems(cart),
    ordered: [...cart.ordered, ...cart.perhapsOrdered],
    doubtfulAdds: cart.doubtfulAdds.size,
  };
}

async function find({ reference }: FindAbandonedItems): Promise<AbandonedItems> {
  const provisioning = workflowIdOf('provisionServers', reference);
  const { cart, runs } = await readRuns([provisioning, workflowIdOf('cleanCart', reference)]);
  const provisionings = runs.filter(({ workflowId }) => workflowId === provisioning);
  const { client } = Context.current();
  let running = false;
  for (const { workflowId, runId } of provisionings) {
    // The list lags behind: a run that has just ended may still stand in it as running.
    running ||= (await client.workflow.getHandle(workflowId, runId).describe()).status.name === 'RUNNING';
  }
  const open = openItems(cart);
  return {
    known: provisionings.length > 0,
    running,
    items: open.filter((id) => !cart.perhapsOrdered.has(id)),
    perhapsOrdered: open.filter((id) => cart.perhapsOrdered.has(id)),
    doubtfulAdds: cart.doubtfulAdds.size,
  };
}

function openItems({ added, deleted, ordered }: CartHistory): number[] {
  return [...added].filter((id) => !deleted.has(id) && !ordered.has(id));
}

interface RunOfSaga {
  workflowId: string;
  runId: string;
  startTime: Date;
}

/** Every run that the server still keeps. */
async function readRuns(workflowIds: readonly string[]): Promise<{ cart: CartHistory; runs: RunOfSaga[] }> {
  const { client } = Context.current();
  const runs: RunOfSaga[] = [];
  const query = `WorkflowId IN (${workflowIds.map((id) => `'${id}'`).join(', ')})`;
  for await (const { workflowId, runId, startTime } of client.workflow.list({ query })) {
    runs.push({ workflowId, runId, startTime });
  }
  const cart = emptyCartHistory();
  for (const { workflowId, runId, startTime } of runs) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const first = runs.every((other) => other.workflowId !== workflowId || other.startTime >= startTime);
    await readCart({ runId, first, history }, client.options.loadedDataConverter, cart);
  }
  return { cart, runs };
}
