/** What an answer means: by its status, by the document, and by what the profile declares. No word of it is guessed at. */
import type { z } from 'zod';
import { readJson } from '../domain/json';
import type { ProfileCall, Profile, Refusal } from '../domain/profile';
import { retryAfterOf } from '../domain/retry-after';
import { ProviderFailure, type FailureFacts, type ProviderFailureName } from './errors';
import { excerptOf, type Secrets } from './excerpt';
import type { Exchanged } from './exchange';
import { idsAt } from './json-pointer';
import { holds } from './profile';
import { cartItemIdIn } from './schemas';
import { meaningOf, type Meaning, type ProviderCall } from './verdicts';

/** Its body as a text, and that as JSON, if it is JSON. */
export type Answered = Wired & { text: string; json: unknown; unreadable?: string };
type Wired = Extract<Exchanged, { answered: true }>;

export function decoded(answer: Wired): Answered {
  const text = new TextDecoder().decode(answer.body);
  return { ...answer, text, json: undefined, ...readJson(text) };
}

interface Asked<T> {
  name: ProfileCall;
  kind: ProviderCall;
  endpoint: string;
  /** The document's success. */
  response?: z.ZodType<T>;
  serverIsNew?: boolean;
}

/** @throws ProviderFailure for whatever is not done */
export function interpret<T>(call: Asked<T>, answer: Answered, profile: Profile | undefined, secrets: Secrets): T {
  const { status, headers, fault, text, json, unreadable } = answer;
  const facts: FailureFacts = {
    endpoint: call.endpoint,
    status,
    // Made for a failure only: most answers are successes, and the search takes time.
    get body() {
      return secrets === 'unknown' ? undefined : excerptOf(text, secrets);
    },
    cartItemId: call.kind === 'add' ? cartItemIdIn(json) : undefined,
    retryAfterMs: retryAfterOf(status, headers, Date.now()),
  };
  const fail = (name: ProviderFailureName, why = '', more: Partial<FailureFacts> = {}) =>
    new ProviderFailure(name, `was answered ${status}${why && `, ${why}`}`, { ...facts, ...more });
  const unexpected = (why: string) => fail('UnexpectedResponse', `${why}; is the base URL right?`);
  const isWait = status === 403 && facts.retryAfterMs !== undefined;
  const meaning = isWait ? 'RateLimited' : meaningOf(status, { call: call.kind, serverIsNew: call.serverIsNew });
  const refusal = refusalIn(call, answer, profile);
  const evidence = evidenceIn(call, meaning, answer, profile);
  if (refusal) {
    const which = `\`refusals.${refusal.index}\` of the provider’s profile`;
    const onlyLooks = ['quote', 'list', 'directory'].includes(call.kind);
    if (evidence.isDone && !onlyLooks) throw fail('UnknownOutcome', `and ${which} fits it, and so does what is done`);
    const name = refusal.means === 'SoldOut' ? 'Rejected' : refusal.means;
    throw fail(name, `which means ${refusal.means} by ${which}`, { declared: refusal.means });
  }
  // Nothing is there by the interface's own word only: a web server's page for people says it of a route.
  if (meaning === 'Gone' || (meaning === 'NotYet' && call.kind === 'directory')) {
    if (fault !== undefined) throw fail('UnknownOutcome', `but ${fault}`);
    if (text.trim() !== '' && json === undefined) throw unexpected('with a page that is not the interface’s');
  }
  if (meaning === 'UnexpectedResponse') throw unexpected('a redirect');
  const isSuccess = status >= 200 && status <= 299;
  if (!isSuccess && meaning !== 'Gone') throw fail(meaning as ProviderFailureName);
  if (fault !== undefined) throw fail('UnknownOutcome', `but ${fault}`);
  if (unreadable !== undefined && isSuccess) throw fail('UnknownOutcome', `but its body ${unreadable}`);
  if (evidence.isDone) return evidence.value as T;
  if (call.kind === 'delete') throw fail('NotDeclared', `${evidence.why}: it is perhaps in the cart`);
  throw fail('UnknownOutcome', evidence.why);
}

/** What the profile says against an answer; the first one that fits. Of one that is cut off, only the status speaks. */
export function refusalIn(
  { name }: Asked<unknown>,
  { status, fault, json }: Answered,
  { refusals = [] }: Profile = {},
): (Refusal & { index: number }) | undefined {
  const index = refusals.findIndex(
    (one) =>
      [one.call].flat().includes(name) &&
      (one.status === undefined || [one.status].flat().includes(status)) &&
      (one.if === undefined || (fault === undefined && holds(one.if, json))),
  );
  const found = refusals[index];
  return found && { ...found, index };
}

/** Whether it is done: by the document where that shows its success, else by the profile alone. */
function evidenceIn(
  { name, kind, response }: Asked<unknown>,
  meaning: Meaning,
  { status, headers, json }: Answered,
  profile: Profile | undefined,
): Evidence {
  const isParts = status === 207;
  if (kind === 'list') return { isDone: true, value: { body: json, isPart: isPart(status, headers) } };
  if (kind === 'directory' || response !== undefined) {
    if (meaning !== 'success') return not('not done');
    // A server that moves up a page would be taken for a new one.
    if (kind === 'directory' && isPart(status, headers)) return not('but only with a part of the list');
    const servers = kind === 'directory' ? profile?.directory?.servers : undefined;
    if (servers !== undefined && idsAt(servers, json) === undefined)
      return not('but `directory.servers` of the provider’s profile finds no list of ids, each once');
    const parsed = response?.safeParse(json) ?? { success: true, data: json };
    if (parsed.success) return { isDone: true, value: parsed.data };
    const wrong = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.') || 'the whole body'))];
    return not(`but not as documented: ${wrong.join(', ')}`);
  }
  const which = meaning === 'Gone' ? 'goneIf' : 'doneIf';
  const declared = profile?.[name as 'delete']?.[which];
  const line = `\`${name}.${which}\` of the provider’s profile`;
  // The list is the evidence.
  if (declared === undefined && kind === 'assign' && meaning === 'success' && !isParts)
    return { isDone: true, value: false };
  if (declared === undefined) return not(`and nobody has declared what that means: ${line} would`);
  if (isParts && declared === 'status') return not(`in parts: only pointers in ${line} tell`);
  const isDone = (meaning === 'success' || meaning === 'Gone' || isParts) && holds(declared, json);
  return isDone ? { isDone, value: kind === 'assign' || json } : not(`but ${line} does not hold`);
}

/** HTTP's own words for a part of what was asked for. */
function isPart(status: number, { link, 'content-range': range }: Answered['headers']): boolean {
  return status !== 200 || range !== undefined || /;\s*rel\s*=\s*"?[^",;]*\bnext\b/i.test([link].flat().join());
}

type Evidence = { isDone: true; value: unknown } | { isDone: false; why: string };
const not = (why: string): Evidence => ({ isDone: false, why });
