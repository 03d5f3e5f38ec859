/** The search attributes that a saga is started with and found by. */
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  type SearchAttributePair,
  type TypedSearchAttributes,
} from '@temporalio/common';
import { searchAttributeNames } from '../domain/identity';
import { sagaStates, type SagaState } from '../domain/progress';

const keys = {
  state: defineSearchAttributeKey(searchAttributeNames.state, SearchAttributeType.KEYWORD),
  step: defineSearchAttributeKey(searchAttributeNames.step, SearchAttributeType.KEYWORD),
  reference: defineSearchAttributeKey(searchAttributeNames.reference, SearchAttributeType.KEYWORD),
  account: defineSearchAttributeKey(searchAttributeNames.account, SearchAttributeType.KEYWORD),
  subscription: defineSearchAttributeKey(searchAttributeNames.subscription, SearchAttributeType.KEYWORD),
  waitingSince: defineSearchAttributeKey(searchAttributeNames.waitingSince, SearchAttributeType.DATETIME),
  /** Temporal's own. */
  pauses: defineSearchAttributeKey('TemporalPauseInfo', SearchAttributeType.KEYWORD_LIST),
};

/** Those of a request. Given with the start they cost no event. */
export function attributesOf(request: {
  reference: string;
  account?: string | undefined;
  subscription_id?: number;
}): SearchAttributePair[] {
  const { reference, account, subscription_id } = request;
  return [
    { key: keys.reference, value: reference },
    ...(account === undefined ? [] : [{ key: keys.account, value: account }]),
    ...(subscription_id === undefined ? [] : [{ key: keys.subscription, value: String(subscription_id) }]),
  ];
}

export function readAttributes(attributes: TypedSearchAttributes) {
  const state = attributes.get(keys.state);
  return {
    /** Undefined: the saga never met trouble, so it never wrote one. */
    state: sagaStates.find((known): known is SagaState => known === state),
    step: attributes.get(keys.step),
    waitingSince: attributes.get(keys.waitingSince),
    account: attributes.get(keys.account),
    subscriptionId: attributes.get(keys.subscription),
    isPaused: (attributes.get(keys.pauses) ?? []).length > 0,
  };
}
