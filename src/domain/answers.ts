/**
 * The answers that a person may give at each kind of waiting. Questions are asked by this table; docs/answers.md is
 * printed from it.
 */
import type { Decision, DecisionName } from './decisions';
import type { WorkflowName } from './identity';
import type { WaitKind } from './progress';

export interface Answer {
  /** The case in which it fits, if it does not always. */
  where?: string;
  does: string;
  /** Instead, in a saga of these. */
  of?: Partial<Record<WorkflowName, string>>;
}

const cancelled =
  'the provider has cancelled it: ends as OrderCancelled; it counts for no limit any more, and nothing is placed again';
const yesOrNo = {
  approve: { does: 'places it' },
  reject: { does: 'places nothing, and the saga fails as NotApproved' },
};
const anew = 'quotes it anew, and places it if price, currency and availability are unchanged';
const known = 'goes on as if it had been answered, and places nothing again';
const again = 'sends it again: if it was placed after all, it is there twice then, and both cost money';

type Answers = Partial<Record<DecisionName, Answer>>;

const table = {
  stuck: {
    retry: { does: 'tries the waiting steps again, with a fresh budget of automatic retries' },
    markDone: {
      where: 'a firewall step, an undo',
      does: 'you did it by hand (at an undo: undid it): goes on as if the call had succeeded, and no later run makes it',
    },
    skip: {
      where: 'it can be left out',
      does: 'goes on without it: this saga does not do it later, and its outcome lists it',
    },
    reject: { where: 'forbidden (403), before the order', does: 'counts as refused: undoes and ends' },
    markCancelled: { where: 'after the order', does: cancelled },
  },
  refused: { retry: { does: 'tries it as it is, or with a correction' } },
  'outcome-unknown': {
    confirmPlaced: {
      does: `${known} (optional: "orderId":"…")`,
      of: { provisionServers: `${known} (optional: "vmObjectIds":[…], "orderId":"…")` },
    },
    confirmNotPlaced: {
      does: again,
      of: {
        changeOrder: `quotes it anew, and ${again}`,
        switchPlan: `quotes it anew, and ${again}`,
        cleanCart: 'sends nothing: deletes the cart items',
      },
    },
    markCancelled: { does: cancelled },
  },
  approval: {
    approve: { ...yesOrNo.approve, of: { changeOrder: anew, switchPlan: anew } },
    reject: yesOrNo.reject,
  },
  duplicate: yesOrNo,
  'over-limit': yesOrNo,
  servers: {
    provideServers: { does: 'assigns the firewalls to these' },
    markCancelled: { does: cancelled },
  },
} satisfies Record<WaitKind, Answers>;

export const answers: Record<WaitKind, Answers> = table;

/** What a person may have said at a question of such a kind. */
export type AnswerAt<K extends WaitKind> = K extends WaitKind
  ? Extract<Decision, { decision: keyof (typeof table)[K] }>
  : never;

/** @returns what it does in a saga of this workflow */
export function answerTo(kind: WaitKind, name: DecisionName, workflow: WorkflowName): string {
  const answer = answers[kind][name];
  return answer?.of?.[workflow] ?? answer?.does ?? name;
}

/** @param fits those that do not fit every question of the kind */
export function choicesOf(kind: WaitKind, fits: Partial<Record<DecisionName, boolean | undefined>> = {}) {
  return (Object.keys(answers[kind]) as DecisionName[]).filter((name) => !(name in fits) || fits[name]);
}
