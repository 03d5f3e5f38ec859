/**
 * What a person may decide while a saga waits. Each is a signal and an update of the same name, with one JSON object.
 *
 * `note` is the evidence: it is mandatory where a decision asserts something that only a person can know, or leaves
 * something behind. `by` says who; Temporal's Web UI does not tell.
 */
import { z } from 'zod';
import { onFirstUse } from './on-first-use';
import { vmObjectIdsSchema } from './requests';

const by = () => z.string('must be a string').min(1, 'must not be empty').optional();
const note = () => z.string('must be a string').optional();
const evidence = () =>
  z.string('is required: say how you know').refine((text) => text.trim() !== '', 'is required: say how you know');

export const decisionSchemas = {
  retry: onFirstUse(() =>
    z.strictObject({
      by: by(),
      note: note(),
      /** Fields of the request to change first; which ones fit depends on the step that waits. */
      correction: z.record(z.string(), z.unknown(), 'must be a JSON object').optional(),
    }),
  ),
  skip: onFirstUse(() => z.strictObject({ by: by(), note: evidence() })),
  confirmPlaced: onFirstUse(() =>
    z.strictObject({ by: by(), note: evidence(), vmObjectIds: vmObjectIdsSchema().optional() }),
  ),
  confirmNotPlaced: onFirstUse(() => z.strictObject({ by: by(), note: evidence() })),
  approve: onFirstUse(() => z.strictObject({ by: by(), note: note() })),
  reject: onFirstUse(() => z.strictObject({ by: by(), note: note(), reason: z.string('must be a string').optional() })),
  provideServers: onFirstUse(() => z.strictObject({ by: by(), note: note(), vmObjectIds: vmObjectIdsSchema() })),
};

export type DecisionName = keyof typeof decisionSchemas;
export const decisionNames = Object.keys(decisionSchemas) as DecisionName[];

export type Decision = {
  [D in DecisionName]: { decision: D } & z.output<ReturnType<(typeof decisionSchemas)[D]>>;
}[DecisionName];

/** The JSON to type, as it stands in the Web UI under each decision's name. */
export const decisionHints: Record<DecisionName, { does: string; example: string }> = {
  retry: { does: 'Try the waiting step again', example: '{"by":"you"}' },
  skip: { does: 'Leave the waiting step out and go on', example: '{"by":"you","note":"why it can be left out"}' },
  confirmPlaced: {
    does: 'It was placed: go on without placing again (new servers: "vmObjectIds":[…] may be given)',
    example: '{"by":"you","note":"where you saw it"}',
  },
  confirmNotPlaced: {
    does: 'It was not placed: place it again',
    example: '{"by":"you","note":"where you looked"}',
  },
  approve: { does: 'Accept the quote and place the order', example: '{"by":"you"}' },
  reject: { does: 'Refuse the quote: nothing is placed', example: '{"by":"you","reason":"why"}' },
  provideServers: {
    does: 'Name the object ids of the new servers',
    example: '{"by":"you","vmObjectIds":[9001]}',
  },
};
