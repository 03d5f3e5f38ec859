/**
 * A saga definition has three parts, and the type says so: nothing can be undone after the pivot, or ordered before it.
 *
 * ```text
 *   prepare   what can be undone          add cart items · quote, guard, approval
 *   pivot     what cannot                 place the order · the change order · the switch
 *   finish    what goes forward           learn the ids, protect the servers · compare quotes · look
 * ```
 */
import type { ReferenceState } from '../activities/journal';
import type { OpenItem } from '../domain/effects';
import type { WorkflowName } from '../domain/identity';
import type { PlanTypes } from '../domain/plan-types';
import type { RequestOf } from '../domain/requests';
import type { SagaResult } from '../domain/results';
import type { Placed } from './pivot';
import type { Saga } from './saga';
import type { Pivot } from './steps';

/** Makes no call. @param planTypes beyond the document's four, as the provider's profile has them */
export type DefineSaga<W extends WorkflowName, P> = (
  saga: Saga,
  request: RequestOf[W],
  planTypes: PlanTypes,
) => SagaDefinition<W, P>;

export type SagaDefinition<W extends WorkflowName, P> = Parts &
  (
    | {
        /** Called again before the pivot is tried again: what stands is not done again. */
        prepare: () => Promise<void>;
        pivot: Pivot<P>;
        finish: (placed: Placed<P>) => Promise<SagaResult<W>>;
      }
    /** All of it can be undone, or it only looks. */
    | { pivot?: undefined; finish: () => Promise<SagaResult<W>> }
  );

export interface Parts {
  /** The run begins: what it did in earlier begins may be gone, and the journal knows what stands. */
  begin?: () => void;
  /**
   * Cart items that this run has heard of as added, and has not deleted, in all its begins: a journal that was restored
   * lacks them.
   */
  added?: () => OpenItem[];
  /**
   * Restores what was prepared, in whichever run, and no order has.
   *
   * @param standing undefined where a person went on without the journal: then nothing is put back that a pivot, or
   * another run, may rely on
   */
  undo?: (standing: ReferenceState | undefined) => Promise<void>;
  /** Says in a sentence what {@link undo} would do now; undefined if that is nothing. */
  describeUndo?: () => string | undefined;
  /** Reports, if the saga does not reach its end, what no undo knows of. @param standing as for {@link undo} */
  reportLeftovers?: (standing: ReferenceState | undefined) => Promise<void> | void;
  /** It is about another saga's reference, takes none, and begins by a look of its own: what it deletes stays deleted. */
  cleansUp?: true;
}
