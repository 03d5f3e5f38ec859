/**
 * Waiting for the turn at a server or a subscription, on which only one saga at a time works.
 *
 * ```text
 *   ask ──begun──▶ the story
 *    ▲ │queued
 *    │ ▼
 *    wait for the signal, or for some time; a cancellation ends it at once
 * ```
 *
 * The journal has the queue. A saga that ends wakes the next one by a signal; the timer is for one that ended without a
 * signal.
 */
import { condition, defineSignal, log, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { turnSignal, type TurnAnswer } from '../domain/turns';
import { inWords } from '../domain/times';
import { describeQueue } from './current-details';
import { now, type Step } from './progress';
import type { Saga } from './saga';
import { activities } from './activities';

/** @param first what the journal said already; without it the journal is asked */
export async function waitForTurn(saga: Saga, resource: string, first?: TurnAnswer): Promise<void> {
  const { journal, progress } = saga;
  journal.resource = resource;
  let woken = false;
  setHandler(
    defineSignal(turnSignal),
    () => {
      woken = true;
    },
    { description: 'Look at once whether it is its turn; for a saga that is queued' },
  );
  const step = saga.unlistedStep('take-turn', `Wait for the turn at ${resource}`);
  let queuedSince: string | undefined;
  let answer = first ?? (await ask(saga, step, resource));
  try {
    while (answer.how === 'queued') {
      const { since, before, holder, lookInMs } = answer;
      const queued = { resource, since, before, holder, lookedAt: now() };
      if (queuedSince === undefined) log.info('queued', { resource, before, holder });
      queuedSince = since;
      progress.queue(step.id, queued);
      setCurrentDetails(describeQueue(queued));
      step.goOn(`queued since ${inWords(since)}, ${before} before it; ${holder} works`);
      await condition(() => woken, lookInMs);
      woken = false;
      answer = await ask(saga, step, resource);
    }
    if (queuedSince !== undefined) {
      progress.enter('running');
      step.end('done', `was queued from ${inWords(queuedSince)} to ${inWords(now())}`);
      log.info('its turn has come', { resource });
    }
    if (answer.how === 'begun') journal.turn = answer.turn;
  } catch (error) {
    step.end('failed', 'it was stopped before its turn');
    throw error;
  } finally {
    progress.stopQueueing();
    setCurrentDetails('');
  }
}

function ask(saga: Saga, step: Step, resource: string): Promise<TurnAnswer> {
  return saga.must({
    step,
    act: ({ retry }) => activities(`ask for the turn at ${resource}`).takeTurn({ resource, retry }),
  });
}
