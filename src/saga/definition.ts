/**
 * A saga definition has three parts, and the type says so: nothing can be undone after the pivot, or ordered before it.
 *
 * ```text
 *   prepare   what can be undone          add cart items · quote, guard, approval
 *   pivot     what cannot                 place the order · the change order · the switch
 *   finish    what only goes forward      learn the ids, protect the servers · compare quotes · look
 * ```
 */
import type { ReferenceState } from '../activities/journal';
import type { WorkflowName } from '../domain/identity';
import type { PlanTypes } from '../domain/plan-types';
import type { RequestOf } from '../domain/requests';
import type { SagaResult } from '../domain/results';
import type { NotNow } from '../domain/spending';
import type { Placed } from './pivot';
import type { Saga } from './saga';
import type { Pivot } from './steps';

export interface SagaContext {
  /** Plan types beyond the document's four, as the provider's profile has them. */
  planTypes: PlanTypes;
  /** People's corrections of the request, in order: in earlier runs of the reference, and in this one. */
  corrections: unknown[];
  /** Why an order with these corrections might not be placed: a person is asked before anything is added. */
  notNow?: NotNow | undefined;
}

/** Makes no call. Made anew whenever the run begins again. */
export type DefineSaga<W extends WorkflowName, P> = (
  saga: Saga,
  request: RequestOf[W],
  known: SagaContext,
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

interface Parts {
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
