/**
 * A preview is true: each decision is made on a real saga, and what the provider was sent is compared with what was
 * told before.
 */
import type { Call } from '../../../sandbox/ledger';
import type { FaultSpec } from '../../../sandbox/faults';
import { ordersWithLabel } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { decisionNames, type DecisionName } from '../../../src/domain/decisions';
import type { Preview, Previewable } from '../../../src/domain/preview';
import { waitKinds, type Waiting } from '../../../src/domain/progress';
import { parseSpendLimits } from '../../../src/domain/spending';
import { isOutcome } from '../../../src/domain/outcomes';
import { describeInWays, itInWays } from '../../support/left-out';
import { panelOf } from '../../support/panel';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({
    activities: {
      spendLimits: parseSpendLimits('ZZ-1=1 servers/1h, ZZ-2=1 usd/1h'),
      duplicateWithinMs: 3_600_000,
    },
  });
});
afterAll(() => rig.close());
beforeEach(() => {
  rig.sandbox.faults.clear();
});

const fault = (endpoint: FaultSpec['endpoint'], kind: FaultSpec['kind'], more: Partial<FaultSpec> = {}) =>
  rig.sandbox.faults.add({ endpoint, kind, ...more });

/** An account of its own, so that nothing is a likely duplicate. */
const purchase = (changes: Parameters<typeof provisionRequest>[0] = {}) =>
  provisionRequest({ items: [{}, {}], firewalls: [143], ...changes });

/** Of an account that has no limit. */
const change = (changes: object = {}) => changeRequest({ account: 'CC-1', ...changes });
const switchTo = (changes: object = {}) => switchRequest({ account: 'CC-1', ...changes });
const exactly = (firewalls: number[], vmObjectId: number) => {
  const { reference } = firewallsRequest();
  return { reference, vmObjectId, exactly: firewalls };
};

let servers = 7_900_000;
function protectedServer(firewalls: number[]): number {
  servers += 1;
  rig.sandbox.addServer({ vmObjectId: servers, firewalls });
  return servers;
}

/** Each brings a saga to a question. */
const questions: Record<string, () => Promise<SagaHandle>> = {
  'a purchase, stuck at an item': () => {
    fault('add-cart-item', 'unauthorized', { nth: 2 });
    return rig.sagas.provision(purchase());
  },
  'a purchase, refused at an item': () => {
    fault('add-cart-item', 'refuse-before', { nth: 2 });
    return rig.sagas.provision(purchase({ onRefusal: 'ask' }));
  },
  'a purchase, stuck at the order': () => {
    fault('place-order', 'unauthorized');
    return rig.sagas.provision(purchase());
  },
  'a purchase, refused at the order': () => {
    fault('place-order', 'refuse-before');
    return rig.sagas.provision(purchase({ onRefusal: 'ask', approval: { above: 5 } }));
  },
  'a purchase of unknown outcome': () => {
    fault('place-order', 'reset-before');
    return rig.sagas.provision(purchase());
  },
  'a purchase of unknown outcome that was placed': () => {
    fault('place-order', 'reset-after');
    return rig.sagas.provision(purchase());
  },
  'a purchase to approve': () => rig.sagas.provision(purchase({ approval: 'always' })),
  'a purchase over a limit': () => rig.sagas.provision(purchase({ account: 'ZZ-1' })),
  'a likely duplicate': async () => {
    const account = `DD-${(servers += 1)}`;
    const same = { account, items: [{ plan_id: 17 }] };
    await (await rig.sagas.provision(purchase(same))).result();
    return rig.sagas.provision(purchase(same));
  },
  'a purchase of unknown servers': () => {
    fault('place-order', 'empty');
    fault('place-order', 'refuse-before', { from: 2, times: 'all' });
    return rig.sagas.provision(purchase());
  },
  'a purchase that is held': async () => {
    await rig.sagas.hold({ note: 'a test' });
    const saga = await rig.sagas.provision(purchase());
    await untilWaiting(saga, 'held');
    // Ended from outside, it lets nobody begin by itself.
    await rig.temporal.workflow.getHandle('hold').terminate();
    return saga;
  },
  'a purchase, stuck at a firewall': () => {
    fault('assign-firewalls', 'refuse-before', { status: 402 });
    return rig.sagas.provision(purchase());
  },
  'a purchase, stuck at the look': () => {
    fault('list-firewalls', 'refuse-before', { status: 402 });
    return rig.sagas.provision(purchase());
  },
  'a purchase, stuck while it is undone': () => {
    fault('place-order', 'refuse-before');
    fault('delete-cart-item', 'unauthorized');
    return rig.sagas.provision(purchase());
  },
  'a change order, stuck at the quote': () => {
    fault('quote-change-order', 'unauthorized');
    return rig.sagas.change(change());
  },
  'a change order, refused at the quote': () => {
    fault('quote-change-order', 'refuse-before');
    return rig.sagas.change(change({ onRefusal: 'ask' }));
  },
  'a change order to approve': () => rig.sagas.change(change({ approval: 'always' })),
  'a change order over a limit': () => rig.sagas.change(change({ account: 'ZZ-2' })),
  'a change order, stuck at placing': () => {
    fault('place-change-order', 'unauthorized');
    return rig.sagas.change(change());
  },
  'a change order of unknown outcome': () => {
    fault('place-change-order', 'reset-before');
    return rig.sagas.change(change());
  },
  'a switch, refused': () => {
    fault('switch-plan', 'refuse-before');
    return rig.sagas.switch(switchTo({ onRefusal: 'ask' }));
  },
  'a switch of unknown outcome': () => {
    fault('switch-plan', 'reset-before');
    return rig.sagas.switch(switchTo());
  },
  'a switch that is only quoted': () => {
    fault('quote-plan-switch', 'unauthorized');
    return rig.sagas.switch(switchTo({ quoteOnly: true }));
  },
  'firewalls, stuck at the first look': () => {
    fault('list-firewalls', 'unauthorized');
    return rig.sagas.firewalls(exactly([2], protectedServer([1])));
  },
  'firewalls, stuck at assigning': () => {
    fault('assign-firewalls', 'unauthorized');
    return rig.sagas.firewalls(firewallsRequest({ vmObjectId: protectedServer([1]), assign: [2], unassign: [1] }));
  },
  'firewalls, stuck at unassigning': () => {
    fault('unassign-firewalls', 'unauthorized');
    return rig.sagas.firewalls(firewallsRequest({ vmObjectId: protectedServer([1]), assign: [2], unassign: [1] }));
  },
  'firewalls, stuck at the last look': () => {
    fault('list-firewalls', 'unauthorized', { nth: 2 });
    return rig.sagas.firewalls(firewallsRequest({ vmObjectId: protectedServer([1]), assign: [2], unassign: [1] }));
  },
  'firewalls, stuck while they are put back': () => {
    fault('unassign-firewalls', 'refuse-before');
    fault('assign-firewalls', 'unauthorized', { nth: 2 });
    return rig.sagas.firewalls(firewallsRequest({ vmObjectId: protectedServer([1]), assign: [2], unassign: [1] }));
  },
  'firewalls, stuck while they are unassigned again': () => {
    fault('unassign-firewalls', 'refuse-before');
    fault('unassign-firewalls', 'unauthorized', { nth: 2 });
    return rig.sagas.firewalls(firewallsRequest({ vmObjectId: protectedServer([1]), assign: [2], unassign: [1] }));
  },
  'a clean-up after an unknown outcome': async () => {
    const { reference } = await terminated('place-order', 'reset-before');
    return rig.sagas.clean(reference);
  },
  'a clean-up, stuck at an item': async () => {
    const { reference } = await terminated('place-order', 'unauthorized');
    fault('delete-cart-item', 'unauthorized');
    return rig.sagas.clean(reference);
  },
};

async function terminated(...[endpoint, kind]: Parameters<typeof fault>): Promise<SagaHandle> {
  fault(endpoint, kind);
  const saga = await rig.sagas.provision(purchase());
  await untilWaiting(saga);
  await rig.temporal.workflow.getHandle(saga.workflowId).terminate();
  return saga;
}

/** What a person says beside the question and the note. */
function bodyOf(saga: SagaHandle, decision: DecisionName, { kind, step, steps = [step] }: Waiting): object {
  const ids = () => ordersWithLabel(rig.sandbox.ledger, saga.reference)[0]?.vmObjectIds;
  if (decision === 'provideServers') return { vmObjectIds: ids() };
  if (decision === 'confirmPlaced' && saga.workflow === 'provisionServers')
    return { note: 'seen', vmObjectIds: ids() ?? [9_900_001, 9_900_002] };
  if (decision === 'markDone') return { note: 'done in the panel', steps };
  return ['skip', 'confirmPlaced', 'confirmNotPlaced', 'markCancelled'].includes(decision)
    ? { note: `a test of ${kind}` }
    : {};
}

/** Does what a person says to have done. */
function byHand({ step, steps = [step], question }: Waiting): void {
  const panel = panelOf(rig.sandbox);
  const vmObjectId = servers;
  for (const each of steps) {
    const [, what, id] = /^(.*?)(?:-(\d+))?$/.exec(each) ?? [];
    if (what === 'delete-cart-item') panel.deleteCartItem(Number(id));
    const undone = /^Undoing: .*cart item (\d+)/.exec(question)?.[1];
    if (undone !== undefined) panel.deleteCartItem(Number(undone));
    else if (/^Undoing: .*Unassign/.test(question)) panel.unassign(vmObjectId, [2]);
    else if (/^Undoing: .*Assign/.test(question)) panel.assign(vmObjectId, [1]);
    else if (what === 'assign-firewalls')
      panel.assign(id === undefined ? vmObjectId : Number(id), [id === undefined ? 2 : 143]);
    else if (what === 'unassign-firewalls') panel.unassign(vmObjectId, [1]);
  }
}

const isAlike = (call: Pick<Call, 'method' | 'path'>, template: string) => {
  const [methods = '', path = ''] = template.split(' ');
  const pattern = path === 'SERVER_DIRECTORY_PATH' ? '/servers.*' : path.replace(/\{\w+\}/g, '\\d+');
  return methods.split('|').includes(call.method) && new RegExp(`^${pattern}$`).test(call.path);
};

/** What was not told, and what was told and did not happen. */
function lies({ next }: Preview, made: readonly Call[]): string[] {
  const told = next.flatMap(({ calls, when, each }) =>
    calls.map((one) => ({ ...one, isSure: when === undefined && one.when === undefined, each })),
  );
  const templates = [...new Set(told.map(({ call }) => call))];
  const untold = made.filter((call) => !templates.some((template) => isAlike(call, template)));
  return [
    ...untold.map(({ method, path }) => `untold: ${method} ${path}`),
    ...templates.flatMap((template) => {
      const all = told.filter(({ call }) => call === template);
      const times = made.filter((call) => isAlike(call, template)).length;
      const least = all.filter(({ isSure }) => isSure).length;
      // What only looks may look again.
      const most = all.some(({ each, changes }) => each === true || !changes) ? Infinity : all.length;
      return times < least || times > most ? [`${template}: ${times} times, but told ${least} to ${most}`] : [];
    }),
  ];
}

/** Of the calls that are sure to be made: which comes first. */
function orderTold({ next }: Preview): string[] {
  return [
    ...new Set(next.flatMap(({ calls, when }) => (when ? [] : calls.flatMap((one) => (one.when ? [] : [one.call]))))),
  ];
}

const told = { kinds: new Set<string>(), decisions: new Set<string>() };

async function decideAndCompare(start: () => Promise<SagaHandle>, decision: Previewable): Promise<void> {
  rig.sandbox.faults.clear();
  const saga = await start();
  const waiting = await untilWaiting(saga);
  told.kinds.add(waiting.kind);
  told.decisions.add(decision);
  const before = await saga.progress();
  const body = decision === 'cancel' ? undefined : { question: waiting.id, ...bodyOf(saga, decision, waiting) };
  // In the air, “not placed” would be refused; whether it would is another question.
  const preview = await saga.preview(decision);
  expect(preview.refused).toBeUndefined();
  expect(await saga.progress()).toEqual(before);
  const since = rig.sandbox.ledger.calls.length;
  const entries = rig.sandbox.ledger.entries.length;
  if (decision === 'cancel') await saga.cancel();
  else {
    if (decision === 'markDone') byHand(waiting);
    await answer(saga, decision, body);
  }
  const wasHeeded = decision !== 'cancel' || !preview.notes.some((note) => note.startsWith('The question stays open'));
  if (wasHeeded) {
    await until(async () => {
      const { state, waiting: now } = await saga.progress();
      return isOutcome(state) || (now !== undefined && now.id !== waiting.id);
    });
  }
  const made = rig.sandbox.ledger.calls.slice(since);
  expect(lies(preview, made)).toEqual([]);
  const firsts = orderTold(preview);
  const inOrder = [...new Set(made.flatMap((call) => firsts.find((template) => isAlike(call, template)) ?? []))];
  expect(inOrder).toEqual(firsts);
  const placed = rig.sandbox.ledger.entries.slice(entries).filter(({ type }) => /[Pp]laced|Switched/.test(type));
  const canPlace = preview.next.some(
    ({ irreversible, calls }) => irreversible && calls.some(({ call }) => /order$|switch/.test(call)),
  );
  expect(placed).toHaveLength(canPlace ? 1 : 0);
  expect(preview.spends === 'nothing more').toBe(!canPlace);
  const { steps } = await saga.progress();
  for (const { step, when, each, undoes } of preview.next) {
    const found = steps.find(({ id }) => id === step);
    if (when !== undefined || each || found === undefined) continue;
    expect(`${step}: ${found.status}`).toBe(`${step}: ${undoes ? 'undone' : 'done'}`);
  }
  if (!wasHeeded) await rig.temporal.workflow.getHandle(saga.workflowId).terminate();
}

describeInWays.each(Object.entries(questions))('%s', (name, start) => {
  it('does what the preview of each decision told, and nothing else', async () => {
    const first = await start();
    const { choices } = await untilWaiting(first);
    await rig.temporal.workflow.getHandle(first.workflowId).terminate();
    // Nobody tells the lie that buys a second time.
    const honest = choices.filter((choice) => choice !== 'confirmNotPlaced' || !name.endsWith('was placed'));
    for (const decision of [...honest, 'cancel'] as const) {
      await decideAndCompare(start, decision).catch((error: unknown) => {
        throw new Error(`${decision}: ${(error as Error).message}`, { cause: error });
      });
    }
  });
});

itInWays('told of every kind of question, and of every decision', () => {
  expect([...told.kinds].sort()).toEqual([...waitKinds].sort());
  expect([...told.decisions].sort()).toEqual([...decisionNames, 'cancel'].sort());
});
