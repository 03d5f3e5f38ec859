/**
 * What the provider's answers mean, where its document does not show them: declared by who installs this, in one file
 * (docs/profile.md). What is not declared is unknown. Nothing here is guessed from words.
 */
import { z } from 'zod';
import { cloudServerPlanTypes } from './plan-types';

/** Empty (the whole document), or segments led by `/`, with `~` only in `~0` and `~1`. */
const jsonPointer = /^(?:\/(?:[^~/]|~[01])*)*$/;
const pointer = () =>
  z.string().regex(jsonPointer, 'must be a JSON pointer, like /data/id; * stands for every element');
const scalar = () => z.union([z.string(), z.number(), z.boolean(), z.null()]);
const values = () => z.union([scalar(), z.array(scalar()).min(1)], 'must be a value, a list of values, or "present"');
const pointers = () =>
  z.record(pointer(), values()).refine((all) => Object.keys(all).length > 0, 'must name at least one pointer');
const orWord = <const W extends string>(word: W) =>
  z.union([z.literal(word), pointers()], `must be "${word}", or JSON pointers, each with its value`);

/** Pointers, each with a value, a list of values, or `present`. */
export type Pointers = Readonly<Record<string, z.infer<ReturnType<typeof values>>>>;
/** `status`: what HTTP's status says is enough. */
export type Condition = 'status' | Pointers;

const condition = () => orWord('status');
const answered = () => z.strictObject({ doneIf: condition().optional() });

const pivots = ['order', 'changeOrder', 'switch'] as const;
const calls = [...pivots, 'add', 'delete', 'quote', 'assign', 'unassign', 'list', 'directory'] as const;
export type ProfileCall = (typeof calls)[number];
const status = () => z.int().min(200).max(599);
const oneOrMany = <T extends z.ZodType>(one: () => T) => z.union([one(), z.array(one()).min(1)]);
const call = () => z.enum(calls, `must be one of ${calls.join(', ')}`);

const refusal = () =>
  z
    .strictObject({
      call: oneOrMany(call),
      status: oneOrMany(status).optional(),
      if: pointers().optional(),
      means: z.enum(['Rejected', 'SoldOut', 'NotYet', 'RateLimited', 'UnknownOutcome']),
    })
    .refine((one) => one.status !== undefined || one.if !== undefined, 'must have a status, or an if');
export type Refusal = z.infer<ReturnType<typeof refusal>>;

const directory = () =>
  z
    .strictObject({
      /** Below the base URL, with `{account}` and `{label}`. */
      path: z.string().regex(/^\//, 'must begin with /'),
      /** The object ids; the labels, each in the same element of a list as its server's id. */
      servers: pointer(),
      labels: pointer().optional(),
      /** No two orders ever share one. */
      labelIsUnique: z.boolean().default(false),
    })
    .refine(
      (one) => !one.labelIsUnique || one.labels !== undefined,
      'labelIsUnique says nothing where no labels are read back',
    );

const column = () => z.string().min(1, 'must be the name of a column');
const utcOffset = () => z.string().regex(/^[+-]([01]\d|2[0-3]):[0-5]\d$/, 'must be like +02:00');
/** The provider's own list of its orders, as its panel exports it: CSV in UTF-8, whose first row names the columns. */
const panelExport = () =>
  z.strictObject({
    separator: z.enum([',', ';', '\t', '|']).default(','),
    ...{ orderId: column(), account: column(), label: column() },
    /** When it was ordered, in ISO 8601, and the offset of a time that has none. */
    time: z.strictObject({ column: column(), utcOffset: utcOffset().optional() }),
    /** The object ids, in one cell. */
    servers: z.strictObject({ column: column(), separator: z.string().min(1) }).optional(),
    total: z.strictObject({ column: column(), currency: column(), decimal: z.enum(['.', ',']) }).optional(),
    /** The words for an order that stands. */
    status: z.strictObject({ column: column(), placed: z.array(z.string()).min(1) }).optional(),
  });
export type PanelExport = z.infer<ReturnType<typeof panelExport>>;

export const profileSchema = () =>
  z
    .strictObject({
      order: answered().extend({ orderId: pointer().optional(), servers: pointer().optional() }).optional(),
      changeOrder: answered().optional(),
      assign: answered().optional(),
      unassign: answered().optional(),
      /** `goneIf` also needs a 404 or a 410. */
      delete: answered().extend({ goneIf: condition().optional() }).optional(),
      firewalls: z
        .strictObject({
          list: pointer().optional(),
          /** In an element. */
          id: pointer().optional(),
          /** Of an element; `listed`: that it is in the list is enough. */
          activeIf: orWord('listed').optional(),
          /** Of the answer; `length`: as many as the list has. `status`: unless HTTP says that it is a part. */
          whole: condition().optional(),
        })
        .optional(),
      directory: directory().optional(),
      export: panelExport().optional(),
      /** Of plan types beyond the document's. `unknown`: it may be a server. */
      planTypes: z
        .record(
          z.string().regex(/^[^:\s]+$/, 'must have no colon and no space'),
          z.enum(['server', 'other', 'unknown'], 'must be server, other or unknown'),
        )
        .refine(
          (all) => Object.entries(all).every(([name, is]) => is === 'server' || !cloudServerPlanTypes.includes(name)),
          'the document’s cloud servers can only be server',
        )
        .optional(),
      refusals: z.array(refusal()).optional(),
    })
    .superRefine((profile, context) => {
      for (const [index, one] of (profile.refusals ?? []).entries()) {
        for (const name of [one.call].flat()) {
          if (!fitsWhereverItIsDone(one, profile[name as 'order']?.doneIf)) continue;
          const message = `its conditions all stand in ${name}.doneIf: no answer could ever be done`;
          context.addIssue({ code: 'custom', path: ['refusals', index], message });
        }
      }
    });
export type Profile = z.infer<ReturnType<typeof profileSchema>>;

function fitsWhereverItIsDone({ status, if: fits = {} }: Refusal, doneIf: Condition | undefined): boolean {
  const ofSuccess = status === undefined || [status].flat().some((one) => one < 300);
  if (doneIf === undefined || !ofSuccess) return false;
  const isImplied = ([at, wanted]: [string, Pointers[string]]) => {
    const declared = doneIf === 'status' ? undefined : doneIf[at];
    if (declared === undefined) return false;
    if (wanted === 'present') return declared === 'present' || [declared].flat().every(isPresent);
    return declared !== 'present' && [declared].flat().every((value) => [wanted].flat().includes(value));
  };
  return Object.entries(fits).every(isImplied);
}

/** Not null, empty, 0 or false, also where that is written as a text. */
export function isPresent(value: unknown): boolean {
  if (typeof value === 'string')
    return !['', 'false', 'null', 'none'].includes(value.trim().toLowerCase()) && Number(value) !== 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== 0;
}

/** HTTP's own word. Who names it has decided so. */
export const httpProfile = (): Profile => ({
  order: { doneIf: 'status' },
  changeOrder: { doneIf: 'status' },
  assign: { doneIf: 'status' },
  unassign: { doneIf: 'status' },
  delete: { doneIf: 'status', goneIf: 'status' },
  firewalls: { activeIf: 'listed', whole: 'status' },
});

/** As the provider gave it; a `body` that is a text is read as it stands, as an excerpt in a question is. */
const recordedAnswer = () =>
  z.strictObject({ call: call(), status: status().default(200), body: z.unknown().optional() });
export type RecordedAnswer = z.infer<ReturnType<typeof recordedAnswer>>;

export const readAnswers = (json: unknown) => z.array(recordedAnswer()).safeParse([json].flat());
