/** The search attributes of a saga: written by workflows and at the start, read by clients, added by workers. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import type { ChangeOrderRequest, SetFirewallsRequest } from '../domain/requests';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const keywords = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD_LIST);

/** By these names an operator filters, and dashboards do: they never change. */
export const sagaAttributes = {
  state: keyword('SagaState'),
  step: keyword('SagaStep'),
  reference: keyword('OrderReference'),
  account: keyword('ProviderAccount'),
  subscription: keyword('SubscriptionId'),
  servers: keywords('ServerIds'),
  /** `name=value` */
  metadata: keywords('OrderMetadata'),
  question: keyword('SagaQuestion'),
  failure: keyword('SagaFailure'),
  waitingSince: defineSearchAttributeKey('SagaWaitingSince', SearchAttributeType.DATETIME),
};

/** A hundred ids of any size fit the 2 KiB of one search attribute; a workflow task with more fails for ever. */
const serversNamedMax = 100;

/** @returns the object ids as the list has them: the first hundred */
export function serverIdsOf(vmObjectIds: readonly number[]): string[] {
  return vmObjectIds.slice(0, serversNamedMax).map(String);
}

type OfSubscription = Pick<ChangeOrderRequest, 'account' | 'subscription_id' | 'metadata'>;
type Searched = Partial<OfSubscription & Pick<SetFirewallsRequest, 'vmObjectId'>>;

/** The attributes that a request has. Set at the start, they cost no event. */
export function attributesOf(request: { reference: string } & Searched): SearchAttributePair[] {
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
