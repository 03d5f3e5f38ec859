/** What a run's search attributes say about its saga. */
import { defineSearchAttributeKey, SearchAttributeType, type TypedSearchAttributes } from '@temporalio/common';
import { sagaStates, type SagaState } from '../domain/progress';
import { sagaAttributes } from '../temporal/search-attributes';

/** Temporal's own. */
const pauses = defineSearchAttributeKey('TemporalPauseInfo', SearchAttributeType.KEYWORD_LIST);

export function readAttributes(attributes: TypedSearchAttributes) {
  const state = attributes.get(sagaAttributes.state);
  return {
    /** Undefined: the saga never had a problem, so it never wrote one. */
    state: sagaStates.find((known): known is SagaState => known === state),
    step: attributes.get(sagaAttributes.step),
    waitingSince: attributes.get(sagaAttributes.waitingSince),
    account: attributes.get(sagaAttributes.account),
    isPaused: (attributes.get(pauses) ?? []).length > 0,
  };
}
