/** The search attributes of a saga: written by workflows and at the start, read by clients, added by workers. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { searchAttributeNames } from '../domain/identity';
import type { Metadata } from '../domain/requests';

export const sagaAttributes = {
  state: defineSearchAttributeKey(searchAttributeNames.state, SearchAttributeType.KEYWORD),
  step: defineSearchAttributeKey(searchAttributeNames.step, SearchAttributeType.KEYWORD),
  reference: defineSearchAttributeKey(searchAttributeNames.reference, SearchAttributeType.KEYWORD),
  account: defineSearchAttributeKey(searchAttributeNames.account, SearchAttributeType.KEYWORD),
  subscription: defineSearchAttributeKey(searchAttributeNames.subscription, SearchAttributeType.KEYWORD),
  servers: defineSearchAttributeKey(searchAttributeNames.servers, SearchAttributeType.KEYWORD_LIST),
  metadata: defineSearchAttributeKey(searchAttributeNames.metadata, SearchAttributeType.KEYWORD_LIST),
  question: defineSearchAttributeKey(searchAttributeNames.question, SearchAttributeType.KEYWORD),
  failure: defineSearchAttributeKey(searchAttributeNames.failure, SearchAttributeType.KEYWORD),
  waitingSince: defineSearchAttributeKey(searchAttributeNames.waitingSince, SearchAttributeType.DATETIME),
};

/** A hundred ids of any size fit the 2 KiB of one search attribute; a workflow task with more fails for ever. */
const serversNamedMax = 100;

/** @returns the object ids as the list has them: the first hundred */
export function serverIdsOf(vmObjectIds: readonly number[]): string[] {
  return vmObjectIds.slice(0, serversNamedMax).map(String);
}

/** The attributes that a request has. Set at the start, they cost no event. */
export function attributesOf(request: {
  reference: string;
  account?: string;
  subscription_id?: number;
  vmObjectId?: number;
  metadata?: Metadata;
}): SearchAttributePair[] {
  const { reference, account, subscription_id, vmObjectId, metadata = {} } = request;
  const words = Object.entries(metadata).map(([name, value]) => `${name}=${value}`);
  return [
    { key: sagaAttributes.reference, value: reference },
    ...(account === undefined ? [] : [{ key: sagaAttributes.account, value: account }]),
    ...(subscription_id === undefined ? [] : [{ key: sagaAttributes.subscription, value: String(subscription_id) }]),
    ...(vmObjectId === undefined ? [] : [{ key: sagaAttributes.servers, value: serverIdsOf([vmObjectId]) }]),
    ...(words.length === 0 ? [] : [{ key: sagaAttributes.metadata, value: words }]),
  ];
}
