/** What answers would mean by a provider's profile, by the same code that reads them in a worker. It asks nobody. */
import { readProfile } from '../config';
import { parseJson } from '../domain/json';
import { readAnswers, type Profile, type ProfileCall, type RecordedAnswer } from '../domain/profile';
import { describeProblems, problemsOf } from '../domain/problems';
import { ProviderFailure } from '../provider/errors';
import { readFirewalls, type ListAnswer } from '../provider/firewall-list';
import { decoded, interpret } from '../provider/interpret';
import { idsAt, valuesAt } from '../provider/json-pointer';
import { cartItemAddedSchema, quoteSchema, switchedSchema } from '../provider/schemas';
import { kindOf } from '../provider/verdicts';
import type { CommandResult, CommandContext } from './define';
import { exitStatus, UsageError } from './exit-status';
import { look, messageOf, ok, printFindings, type Found } from './findings';
import { readText } from './read-request';

/** Of the calls whose success the document shows. */
const responses = { add: cartItemAddedSchema, quote: quoteSchema, switch: switchedSchema };

const answerBytesMax = 4_194_304;

export async function checkProfile(
  { printer, stdin }: CommandContext,
  file: string,
  answers: string[],
): Promise<CommandResult> {
  const profile = readOrRefuse(file);
  const found = [ok(file, `declares ${Object.keys(profile).join(', ') || 'nothing'}`)];
  for (const path of answers) {
    const json = parseJson(await readText(path, stdin, answerBytesMax, 'an answer'), path);
    const read = readAnswers(json);
    if (!read.success) throw new UsageError(`${path}: ${describeProblems(problemsOf(read.error))}`);
    found.push(...read.data.flatMap((one) => findingsOf(one, path, profile)));
  }
  printFindings(printer, found);
  const isDone = found.every(({ is }) => is === 'ok');
  return { document: { found }, status: isDone ? exitStatus.done : exitStatus.notDone };
}

function readOrRefuse(file: string): Profile {
  try {
    return readProfile(file);
  } catch (error) {
    throw new UsageError(`${file}: ${messageOf(error)}`);
  }
}

function findingsOf({ call, status, body }: RecordedAnswer, path: string, profile: Profile): Found[] {
  const what = `${path}: ${call}, ${status}`;
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  const answer = decoded({ answered: true, status, headers: {}, body: Buffer.from(text) });
  const asked = { name: call, kind: kindOf[call], endpoint: call, response: responses[call as 'add'] };
  const nothing = pointersOf(call, status, profile)
    .filter(([, pointer]) => valuesAt(pointer, answer.json).length === 0)
    .map(([name, pointer]) => look(what, `${name}: ${pointer} finds nothing`));
  try {
    const value = interpret<unknown>(asked, answer, profile, []);
    return [ok(what, saysOf(call, value, profile)), ...nothing];
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return [look(what, `${error.name}: ${error.message}`), ...nothing];
  }
}

function saysOf(call: ProfileCall, value: unknown, { order = {}, firewalls, directory }: Profile): string {
  const ids = (pointer: string | undefined) =>
    pointer === undefined ? 'not declared' : idsAt(pointer, value)?.join(', ') || 'none, or not of each, once';
  if (call === 'order') {
    const id = order.orderId === undefined ? 'not declared' : valuesAt(order.orderId, value).join(', ');
    return `done; order id: ${id}; servers: ${ids(order.servers)}`;
  }
  if (call === 'directory') return `read; servers: ${ids(directory?.servers)}`;
  if (call === 'list') {
    const read = readFirewalls(value as ListAnswer, firewalls);
    return read
      ? `whole: ${read.ids.join(', ') || 'none'}; active: ${read.active?.join(', ') ?? 'not declared'}`
      : 'not read as whole';
  }
  return value === false ? 'answered; not declared, so the list is the evidence' : 'done';
}

/** Each pointer of an answer to that call, and where it stands in the profile. */
function pointersOf(call: ProfileCall, status: number, profile: Profile): [name: string, pointer: string][] {
  const part = { list: profile.firewalls, directory: profile.directory, ...profile }[call as 'order'] ?? {};
  return Object.entries(part).flatMap(([field, value]): [string, string][] => {
    // These are in an element of the list.
    if (['activeIf', 'id', 'path', status < 300 ? 'goneIf' : 'doneIf'].includes(field)) return [];
    const name = `${call}.${field}`;
    if (typeof value === 'string') return value.startsWith('/') ? [[name, value]] : [];
    return typeof value === 'object' ? Object.keys(value as object).map((pointer) => [name, pointer]) : [];
  });
}
