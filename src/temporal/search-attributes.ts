/** The search attributes of a saga: written by workflows and at the start, read by the client, registered by the worker. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { searchAttributeNames } from '../domain/identity';

export const sagaAttributes = {
  state: defineSearchAttributeKey(searchAttributeNames.state, SearchAttributeType.KEYWORD),
  step: defineSearchAttributeKey(searchAttributeNames.step, SearchAttributeType.KEYWORD),
  reference: defineSearchAttributeKey(searchAttributeNames.reference, SearchAttributeType.KEYWORD),
  account: defineSearchAttributeKey(searchAttributeNames.account, SearchAttributeType.KEYWORD),
  subscription: defineSearchAttributeKey(searchAttributeNames.subscription, SearchAttributeType.KEYWORD),
  question: defineSearchAttributeKey(searchAttributeNames.question, SearchAttributeType.KEYWORD),
  failure: defineSearchAttributeKey(searchAttributeNames.failure, SearchAttributeType.KEYWORD),
  waitingSince: defineSearchAttributeKey(searchAttributeNames.waitingSince, SearchAttributeType.DATETIME),
};

/** The attributes that a request has. Set at the start, they cost no event. */
export function attributesOf(request: {
  reference: string;
  account?: string | undefined;
  subscription_id?: number;
}): SearchAttributePair[] {
  const { reference, account, subscription_id } = request;
  return [
    { key: sagaAttributes.reference, value: reference },
    ...(account === undefined ? [] : [{ key: sagaAttributes.account, value: account }]),
    ...(subscription_id === undefined ? [] : [{ key: sagaAttributes.subscription, value: String(subscription_id) }]),
  ];
}
