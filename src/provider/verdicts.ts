/**
 * The table of what an answer means. The provider documents no errors, so a row says only what can be concluded, by the
 * call and not by the status alone. All other code, in this room and outside it, decides by these names;
 * docs/failures.md is printed from these rows.
 */
import { bare, isRecord, setOf } from './words';

/** `assign` stands for unassigning, too. `directory` is the server directory, which is not in the document. */
export const providerCalls = ['pivot', 'add', 'delete', 'quote', 'assign', 'list', 'directory'] as const;
export type ProviderCall = (typeof providerCalls)[number];

/**
 * - `Gone`: nothing is left to delete.
 * - The others are the names of failures, see errors.ts.
 */
export type Meaning =
  'success' | 'Gone' | 'Unauthorized' | 'RateLimited' | 'NotYet' | 'Rejected' | 'UnknownOutcome' | 'UnexpectedResponse';

export interface Row {
  /** A status, or the first and the last one of a range. */
  status: number | readonly [number, number];
  /** Absent: of every call. */
  calls?: readonly ProviderCall[];
  /** Only of a server that is minutes old. */
  newServer?: true;
  means: Meaning;
  because: string;
}

const steps = providerCalls.filter((call) => call !== 'pivot');
const onServer = ['assign', 'list'] as const;
const refusedPivot = (because: string, ...statuses: number[]): Row[] =>
  statuses.map((status) => ({ status, calls: ['pivot'], means: 'Rejected', because }));
const notYet = (status: number, calls: readonly ProviderCall[], because: string): Row => ({
  status,
  calls,
  means: 'NotYet',
  because,
});
const newServer = (status: number, because: string): Row => ({ ...notYet(status, onServer, because), newServer: true });

/** The first row that fits counts. */
export const rows: readonly Row[] = [
  { status: [200, 299], means: 'success', because: 'unless the body says no, see below' },
  { status: [300, 399], means: 'UnexpectedResponse', because: 'the interface has no redirects: a wrong base URL' },

  { status: 401, means: 'Unauthorized', because: 'the credentials are refused, before anything is done' },
  {
    status: 403,
    means: 'Unauthorized',
    because: 'the credentials do not allow this, or the provider refuses the request (a quota, a plan)',
  },
  { status: 429, means: 'RateLimited', because: 'too many calls' },

  { status: 404, calls: ['delete'], means: 'Gone', because: 'there is no such item' },
  { status: 410, calls: ['delete'], means: 'Gone', because: 'the item has expired with its cart' },

  ...refusedPivot('the request is malformed; validators answer so before anything is done', 400),
  ...refusedPivot('no payment, no order', 402),
  ...refusedPivot('there is no such route, account or subscription', 404),
  ...refusedPivot('the route does not take this method', 405),
  ...refusedPivot('decided from the request’s headers alone', 406, 411, 412, 415, 417, 428),
  ...refusedPivot('the request was not read to its end', 413, 414, 431),
  ...refusedPivot('validators of web frameworks answer so before anything is done', 422),

  notYet(409, ['add', 'delete'], 'the cart is locked, by our own calls side by side'),
  notYet(423, steps, 'locked: the cart by our own calls, the server in its maintenance'),
  notYet(425, steps, 'too early'),
  notYet(404, ['directory'], 'nothing is listed yet'),
  newServer(400, 'the server is not ready yet'),
  newServer(404, 'the server is not known yet'),
  newServer(409, 'the server is still being set up'),
  newServer(422, 'the server is not ready yet'),

  { status: 408, means: 'UnknownOutcome', because: 'a proxy may send it while the provider is still at work' },
  { status: 499, means: 'UnknownOutcome', because: 'a proxy notes so that its client went away; the call may go on' },
  {
    status: [400, 499],
    calls: ['pivot'],
    means: 'UnknownOutcome',
    because: 'no plain refusal: a conflict may be with the order that the call has just placed',
  },
  { status: [400, 499], means: 'Rejected', because: 'the provider refuses it' },
  { status: [500, 599], means: 'UnknownOutcome', because: 'it may have failed after it took effect' },
];

/**
 * @param status an HTTP status; also the `code` in the body of a success
 * @param about the call; whether it is about a server that is minutes old
 */
export function meaningOf(
  status: number,
  { call, serverIsNew = false }: { call: ProviderCall; serverIsNew?: boolean | undefined },
): Meaning {
  const row = rows.find(({ status: of, calls, newServer: onlyNew }) => {
    const [first, last] = typeof of === 'number' ? [of, of] : of;
    return (
      status >= first &&
      status <= last &&
      (calls === undefined || calls.includes(call)) &&
      (onlyNew === undefined || serverIsNew)
    );
  });
  // Not an HTTP status: nothing is sure.
  return row?.means ?? 'UnknownOutcome';
}

/** The body of a success says it against it. */
export interface Sign {
  /** Field and value: `success: false`, `data.code: 400`. */
  says: string;
  /** The HTTP status that the body claims, from 400 to 599. */
  status?: number;
  /** It is plainly a refusal. Otherwise it may be, or may be something else: nothing is sure. */
  isPlain: boolean;
}

/** The document shows that an answer speaks of itself at the top and in `data`; other interfaces do it elsewhere. */
const outer = ['data', 'result', 'response', 'status', 'meta', 'metadata', 'order', 'error'] as const;
const within = ['order', 'result', 'error', 'status'] as const;
const places: readonly (readonly string[])[] = [
  [],
  ...outer.map((place) => [place]),
  ...(['data', 'result', 'response'] as const).flatMap((place) => within.map((name) => [place, name])),
];
/** More elements of a list are not searched. */
const elementsMax = 100;

/**
 * A sign in the body of a success that it is none. PHP hosting software, gateways and GraphQL answer 200 to all
 * requests, and say in the body what came of them. The elements of a list that was asked for do not speak of the answer:
 * a firewall may be of the type “deny”.
 */
export function signIn(body: unknown, call: ProviderCall): Sign | undefined {
  const isAboutAList = call === 'list' || call === 'directory';
  const isShown = isAboutAList || call === 'add' || call === 'quote';
  if (isRefusal(body)) return { says: `the whole body: ${shown(body)}`, isPlain: true };
  if (typeof body === 'string' && !isShown) return ofWords('the whole body', body);
  for (const path of places) {
    const value = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), body);
    const place = path.join('.');
    const isList = Array.isArray(value);
    const objects = isList ? (value as unknown[]).slice(0, elementsMax) : [value];
    for (const object of objects) {
      if (place === 'data' && object === false) return { says: 'data: false', isPlain: true };
      if (!isRecord(object) || (isList && isAboutAList && hasId(object))) continue;
      for (const [name, inner] of Object.entries(object)) {
        const sign = ofField(name.slice(0, 60), inner, isShown ? undefined : call);
        if (sign) return place === '' ? sign : { ...sign, says: `${place}.${sign.says}` };
      }
    }
  }
  return undefined;
}

const texts = setOf('message messages msg detail details description reason info note statusmessage');
const textCharsMax = 500;
const noInWords =
  /\b(?:insufficient|not enough|no such|limit reached|denied|declined|refused|rejected|(?<!no |without )(?:failed|failures?|fails|errors?)(?!-free)|invalid|unable|cannot|can't|could not|couldn't|not (?:allowed|permitted|found|available|possible|supported|placed|processed|completed|created|accepted|successful)|forbidden|unauthori[sz]ed|suspended|exceeded|overdue)\b/i;

const acknowledgements = setOf('ack acknowledged processed executed');
/** In the answer to another call, the same field may be a property of what is shown, and no sign. */
const ownYes: Partial<Record<ProviderCall, readonly string[]>> = {
  pivot: ['available'],
  delete: ['deleted', 'removed'],
};

function ofWords(what: string, value: unknown): Sign | undefined {
  const [found] = noInWords.exec(wordsIn(value).slice(0, textCharsMax).replaceAll('_', ' ')) ?? [];
  return found === undefined ? undefined : { says: `${what}: “… ${found} …”`, isPlain: false };
}

/** A text, or a list or an object of texts. */
function wordsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const inner = Object.values(value).slice(0, elementsMax);
  return inner.filter((one) => typeof one === 'string').join('\n');
}

const hasId = (object: object) => Object.keys(object).some((name) => /(^|_)id$|Id$/.test(name));

/** Names are compared without case, `_` and `-`. */
const yes = setOf('success ok succeeded successful issuccess issuccessful valid accepted placed');
const no = setOf('failed failure haserror haserrors iserror rejected refused declined');
const words = setOf('status result state outcome type return response');
const codes = setOf('code statuscode httpcode httpstatus responsecode resultcode returncode');
const errors = setOf(
  'fault error errors errorcode errorno errno errormessage errordescription errordetail errordetails exception faultstring faultcode',
);

const refusalWords = setOf(
  'error errors err fail failed fails failure ko nok no false refused rejected reject declined denied deny invalid ' +
    'unauthorized forbidden exception cancelled canceled notfound unsuccessful unavailable insufficient aborted fatal ' +
    'fraud fraudulent void voided expired blocked suspended',
);

const isRefusalWord = (text: string) => text.length <= 40 && refusalWords.has(bare(text));
const isRefusal = (value: unknown) => value === false || (typeof value === 'string' && isRefusalWord(value));

/**
 * @param unshown the call, where nobody knows what its success looks like: a no in words is none for sure then, and no
 *   yes either
 */
function ofField(name: string, value: unknown, unshown: ProviderCall | undefined): Sign | undefined {
  const plain: Sign = { says: `${name}: ${shown(value)}`, isPlain: true };
  const unsure: Sign = { ...plain, isPlain: false };
  const field = bare(name);
  if (yes.has(field)) return isNo(value) ? plain : undefined;
  if (no.has(field)) return isSomething(value) && !isNo(value) ? plain : undefined;
  if (errors.has(field)) return isSomething(value) ? plain : undefined;
  if (codes.has(field)) return ofCode(plain, value);
  if (words.has(field)) {
    const number = numberIn(value);
    if (isRefusal(value)) return plain;
    if (number === 0 && field !== 'type') return unsure;
    if (number !== undefined && number >= 400 && number <= 599) return ofCode(plain, value);
  }
  if (unshown === undefined) return undefined;
  if (acknowledgements.has(field) || ownYes[unshown]?.includes(field)) return isNo(value) ? unsure : undefined;
  const isText = texts.has(field) || (words.has(field) && typeof value === 'string');
  return isText ? ofWords(name, value) : undefined;
}

/** In a code of words, such as INSUFFICIENT_FUNDS. */
const codeWords = setOf('not limit exceeded missing quota conflict duplicate unsupported locked');
const isRefusalCode = (value: unknown) =>
  typeof value === 'string' &&
  value.length <= 60 &&
  value
    .toLowerCase()
    .split(/[^a-z]/)
    .some((word) => codeWords.has(word) || refusalWords.has(word));

/** A `code` of the body means what it means as a status (200 is success, row 2). Another number may mean anything. */
function ofCode(plain: Sign, value: unknown): Sign | undefined {
  const code = numberIn(value);
  if (code === undefined) return isRefusalCode(value) ? { ...plain, isPlain: false } : undefined;
  if (code >= 200 && code <= 299) return undefined;
  return Number.isInteger(code) && code >= 400 && code <= 599
    ? { ...plain, status: code }
    : { ...plain, isPlain: false };
}

/** Documented numbers may come as numeric strings. */
function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,9})?$/i.test(value)
    ? Number(value)
    : undefined;
}

const isNo = (value: unknown) =>
  value === false ||
  value === 0 ||
  (typeof value === 'string' && ['false', '0', 'no', 'off', 'n'].includes(bare(value)));

/** Interfaces leave a field for errors empty in many ways. */
function isSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return false;
  if (typeof value === 'string')
    return !['', '0', 'false', 'none', 'null', 'no', 'ok', 'success'].includes(bare(value));
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' ? Object.keys(value).length > 0 : true;
}

/** Only what cannot be a secret is shown: the excerpt has the rest, redacted. */
function shown(value: unknown): string {
  if (typeof value === 'string')
    return isRefusalWord(value) || numberIn(value) !== undefined ? `“${value}”` : '(a text)';
  if (Array.isArray(value)) return '(a list)';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '(an object)';
}
