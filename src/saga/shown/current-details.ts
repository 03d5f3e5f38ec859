/**
 * The notice that an operator reads in the Web UI's *User Metadata* tab: markdown, the question and why it is asked, the
 * decisions that fit with what to paste, then the rest. Under 2 KB, because it travels in an address.
 */
import { answerTo } from '../../domain/answers';
import { exampleFor, type DecisionName } from '../../domain/decisions';
import type { WorkflowName } from '../../domain/identity';
import { cutWell, plainMarkdown } from '../../domain/markdown';
import type { Queued } from '../../domain/progress';
import { secretFields } from '../../domain/secrets';
import { inWords } from '../../domain/times';
import type { Question } from '../people/questions';

const questionCharsMax = 600;
const excerptCharsMax = 300;
const noticeBytesMax = 1_900;

/** If payloads are encrypted, only who has the keys can send what nobody else may read. */
export const howToSendSecrets =
  'Send a secret with `order-saga decide`, which encrypts it, or by its name: {"secret":"its name"}';

/** The example of a correction has these values for fields that are no text, or none to type. */
const exampleValues: Record<string, unknown> = {
  item: 1,
  password: { secret: 'its name' },
  os_template_id: 3,
  plan_id: 21,
  resources: [{ resource_name: 'vm_backup', delta_value: '1' }],
  firewalls: [143],
};

/** The Web UI's frame is a paragraph shorter than what it shows: so the last one is a space that does not break. */
const hiddenEnd = '\n\n\u00a0';

const whileUnknown = 'All stays as it is, and the report says that nobody knows whether it was placed.';

type Asked = Question & { id: string; choices: readonly DecisionName[]; workflow: WorkflowName };

/** @param undoing what an end without success undoes, in a sentence. @param nextTryAt when it tries by itself */
export function describeWait(
  question: Asked & { cancellable: boolean },
  since: string,
  undoing: string,
  nextTryAt?: string,
): string {
  const { id, kind, step, choices, correction, lastFailure, cancellable } = question;
  const stopping = kind === 'outcome-unknown' ? whileUnknown : undoing;
  const [headline, more] = inTwo(cutWell(question.question, questionCharsMax));
  const asked = `### ${plainMarkdown(headline, questionCharsMax)}`;
  const deciding = paragraphs(
    choices.map((name) => describeChoice(name, question, stopping)).join('\n'),
    nextTryAt !== undefined && `It tries by itself at ${inWords(nextTryAt)}, if nobody has decided until then.`,
    'To decide, press **More Actions**, then **Send an Update**, choose the name and paste the data.',
    correction && describeCorrection(Object.keys(correction.schema().shape), id),
    cancellable && `Or press **Request Cancellation** to stop. ${stopping}`,
  );
  // The provider's words may be long, and what to paste stands behind them.
  const room = noticeBytesMax - bytesOf(paragraphs(asked, deciding)) - bytesOf('\n\n');
  return inParagraphs(
    asked,
    more && cut(plainMarkdown(more, questionCharsMax), Math.max(0, room)),
    deciding,
    `It waits as *${kind}* at step \`${step}\` since ${inWords(since)}. This is question \`${id}\`.`,
    lastFailure && `Last failure: ${plainMarkdown(lastFailure.message, excerptCharsMax)} (${lastFailure.failure}).`,
    lastFailure?.body !== undefined && `The provider said: ${quoted(lastFailure.body)}`,
  );
}

/** No question: it says why nothing happens. */
export function describeQueue({ resource, since, before, holder, holderWaits, lookedAt }: Queued): string {
  const others = before === 1 ? 'one saga is' : `${before} sagas are`;
  const does = holderWaits === undefined ? 'works on it' : `waits for a person, as *${holderWaits}*: decide there`;
  return inParagraphs(
    `### Queued for ${resource}: ${others} before it`,
    `\`${holder}\` ${does}. When that has ended, the next one goes on by itself.`,
    'Or press **Request Cancellation** to stop: nothing was sent, so nothing is left.',
    `It is queued since ${inWords(since)}, and looked last at ${inWords(lookedAt)}. The signal \`turn\` makes it look at once.`,
  );
}

/** No question: nobody decides about one held saga. */
export function describeHeld(who: string): string {
  return inParagraphs(
    `### New sagas are ${plainMarkdown(who, excerptCharsMax)}`,
    'This one has not begun. It begins within five minutes after the workflow `hold` has ended.',
    'Or press **Request Cancellation** to stop: nothing was sent, so nothing is left.',
  );
}

/** No question: it says until when nobody is asked. */
export function describeSettling(noun: string, until: string): string {
  return inParagraphs(
    `### Settling: ${noun} may still take effect until ${until}`,
    'The call was sent, and its outcome is not known. When nothing of it can be in flight any more, a person is asked to look.',
    'Or press **Request Cancellation** to stop: the report will say that its outcome is unknown.',
  );
}

function inParagraphs(...texts: (string | false | undefined)[]): string {
  return cut(paragraphs(...texts), noticeBytesMax) + hiddenEnd;
}

/** Without those that there is no reason for. */
function paragraphs(...texts: (string | false | undefined)[]): string {
  return texts.filter(Boolean).join('\n\n');
}

function describeChoice(name: DecisionName, asked: Asked, stopping: string): string {
  const does = `${answerTo(asked.kind, name, asked.workflow)}.${name === 'reject' ? ` ${stopping}` : ''}`;
  return `- **${name}** — ${does}  \n  \`${exampleFor(name, asked)}\``;
}

function describeCorrection(fields: readonly string[], question: string): string {
  const shown = fields.slice(0, 2).map((field) => [field, exampleValues[field] ?? 'new'] as const);
  const example = JSON.stringify({ question, by: 'you', correction: Object.fromEntries(shown) });
  const named = fields.map((field) => `\`${field}\``).join(', ');
  const secret = fields.some((field) => secretFields.includes(field)) ? ` ${howToSendSecrets}.` : '';
  return `A *retry* may correct the request first (${named}), like this: \`${example}\`.${secret}`;
}

/** The first sentence, and the others. */
function inTwo(question: string): [string, string] {
  const end = question.search(/(?<=[.?])\s/);
  return end === -1 ? [question, ''] : [question.slice(0, end), question.slice(end).trim()];
}

/** The provider's words as they are: no markdown of theirs becomes ours. */
function quoted(text: string): string {
  return `\`${cutWell(text.replace(/\s+/g, ' ').trim(), excerptCharsMax).replaceAll('`', "'")}\``;
}

function cut(text: string, bytesMax: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  const room = bytesMax - bytesOf('…');
  return room < 0 ? '' : `${new TextDecoder().decode(bytes.slice(0, room)).replace(/\uFFFD$/, '')}…`;
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
