/**
 * Calls of this run that may have added a cart item of unknown id, by the item's number in the request. The journal
 * knows them, and those of other runs; these are reported where a person goes on without the journal.
 */
import { ActivityFailure } from '@temporalio/workflow';
import type { Effected } from '../domain/effects';
import { outcomeOf } from '../domain/failures';
import { failureOf } from '../saga/attempts';

export class UnknownAdds {
  private readonly unanswered: number[] = [];
  /** Calls that ended without an answer: the journal may still learn their outcome. */
  private readonly lost: number[] = [];

  get numbers(): number[] {
    return [...this.unanswered, ...this.lost];
  }

  async noting<T>(number: number, adding: Promise<Effected<T>>): Promise<Effected<T>> {
    try {
      const answer = await adding;
      if (answer.recorded !== undefined && this.lost.includes(number)) this.lost.splice(this.lost.indexOf(number), 1);
      return answer;
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined && error instanceof ActivityFailure) this.lost.push(number);
      // Without an endpoint nothing was sent.
      else if (failure?.endpoint !== undefined && outcomeOf(failure.failure) === 'unknown')
        this.unanswered.push(number);
      throw error;
    }
  }
}
