/**
 * The request as it is wanted by now: the one that the reference was taken with, and what people have corrected of it
 * before its pivot, in whichever run.
 *
 * ```text
 *   retry with a correction ── still a request, within its limits? ── into the journal ── from here on it holds
 *                                        └─ no: the decision is refused, by the field's name
 * ```
 *
 * Nothing is sent by a correction that is not in the journal: a run that goes on from before it would send something
 * else.
 */
import { log, uuid4 } from '@temporalio/workflow';
import { correctedBy } from '../../domain/corrections';
import { describeProblems } from '../../domain/problems';
import { requestBytesMax, type Checked } from '../../domain/validation';
import type { z } from 'zod';
import { placedMeanwhile } from '../control-flow';
import type { Correction, Attribution } from './questions';
import type { Saga } from '../saga';
import { activities } from '../activities';

export interface CorrectionRules<R> {
  /** Says whether it is a request at all. */
  check: (request: R) => Checked<R>;
  /** The other objections to it, by the field's name. */
  objections?: (first: R, corrected: R) => string[];
}

export class CorrectedRequest<R, C extends object> {
  constructor(
    private readonly saga: Saga,
    private readonly first: R,
    private readonly rules: CorrectionRules<R>,
  ) {}

  get corrections(): readonly C[] {
    return this.saga.corrections as C[];
  }

  get request(): R {
    return this.correctedBy(this.corrections);
  }

  private correctedBy(corrections: readonly C[]): R {
    return correctedBy(corrections, this.saga.progress.workflow, this.first);
  }

  /** The fields that a `retry` may correct, as they are typed. */
  correction(schema: () => z.ZodObject): Correction {
    return {
      schema,
      objection: (correction) => this.objection(correction as C),
      apply: (correction, said) => this.correct(correction as C, said),
    };
  }

  /** A sentence where the request as corrected would not be taken. */
  objection(correction: C): string | undefined {
    const { rules, first, corrections } = this;
    const corrected = this.correctedBy([...corrections, correction]);
    const checked = rules.check(corrected);
    if (!checked.ok) return describeProblems(checked.problems);
    // The next run learns all of them at once.
    if (JSON.stringify([...corrections, correction]).length > requestBytesMax) {
      return `all corrections of a request together must not be longer than ${requestBytesMax} characters`;
    }
    const objections = rules.objections?.(first, corrected) ?? [];
    return objections.length > 0 ? objections.join('; ') : undefined;
  }

  /** @param id of one that is written once, whichever run does. @throws StateChanged where there is nothing to correct any more */
  async correct(correction: C, said: Attribution, id: string = uuid4()): Promise<void> {
    const title = 'Write the correction into the journal';
    const written = await this.saga.write('write-correction', title, ({ retry }) =>
      activities('write the correction into the journal').writeCorrection({ id, ...said, correction, retry }),
    );
    if (written.how === 'placed') {
      log.warn('nothing was corrected: it was placed before, or perhaps, by another run', { by: said.by });
      throw placedMeanwhile(this.saga.step(said.step, said.step));
    }
    this.saga.corrections.push(correction);
    this.saga.notNow = written.notNow;
  }
}
