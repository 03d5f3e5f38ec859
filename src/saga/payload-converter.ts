/** Takes the place of Temporal's own payload converter where there are keys: see `src/domain/unsealed.ts`. */
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';
import { inWorkflowContext } from '@temporalio/workflow';
import { isForeign, ofCall, rememberSeal } from '../domain/unsealed';

export const payloadConverter: PayloadConverter = {
  toPayload: (value, context) =>
    ofCall(defaultPayloadConverter.toPayload(value), inWorkflowContext() ? 'argument' : 'answer', context),
  fromPayload: (payload, context) => {
    const value: unknown = defaultPayloadConverter.fromPayload(payload);
    const foreign = isForeign(payload, inWorkflowContext() ? 'answer' : 'argument', context);
    return rememberSeal(value, foreign, context?.type === 'activity') as never;
  },
};
