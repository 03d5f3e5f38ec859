/** What a decision about a saga would lead to: asked by a query, which changes nothing. */
import type { CancellationScope } from '@temporalio/workflow';
import { definedOnly } from '../domain/defined-only';
import { previewable, type Asked, type Preview, type Previewable } from '../domain/preview';
import type { Question } from './questions';

/** `heedsCancel`: false where what is being done is brought to its end, cancelled or not. */
export type OpenQuestion = Question & { id: string; heedsCancel: boolean };

interface Deciding {
  previewOf: (decision: Previewable) => Preview;
  /** A sentence where it would not be taken. @param body undefined: it is only looked whether it fits the question */
  whyNot: (decision: Previewable, body: unknown) => string | undefined;
}

/**
 * @param name a decision, or `cancel`
 * @param body as it would be sent; without one, nobody looks whether it would be taken
 */
export function answerPreview(name: unknown, body: unknown, { previewOf, whyNot }: Deciding): Preview {
  const decision = previewable.find((known) => known === name);
  if (decision === undefined) {
    throw new Error(`there is no decision ${String(name).slice(0, 40)}; there are ${previewable.join(', ')}`);
  }
  const preview = previewOf(decision);
  const refused = whyNot(decision, body ?? undefined);
  if (refused === undefined) return preview;
  const { does, question, kind } = preview;
  return { decision, does, ...definedOnly({ question, kind }), refused, next: [], spends: 'nothing', notes: [] };
}

/** Within a scope that is not cancellable, nothing hears of a cancellation. */
export function isCancellable(scope: CancellationScope): boolean {
  return scope.cancellable && (scope.parent === undefined || isCancellable(scope.parent));
}

/** What a preview goes by. */
export function askedOf(question: OpenQuestion, steps: readonly { id: string; title: string }[]): Asked {
  const { id, kind, step, undoing = false, heedsCancel, lastFailure } = question;
  const title = steps.find((one) => one.id === step)?.title ?? step;
  return {
    ...{ id, kind, step, undoing, heedsCancel },
    tried: question.tried ?? [{ step, title }],
    takenBack: lastFailure?.failure === 'StateChanged',
  };
}
