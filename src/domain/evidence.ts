/**
 * Evidence: what somebody has seen in the provider's control panel of many calls of unknown outcome, one line for each
 * saga.
 *
 * ```text
 *   {"reference":"PO-2026-0042","question":"1a2b3c4d","placed":true,"orderId":"77","vmObjectIds":[9001]}
 *   {"reference":"PO-2026-0043","question":"5e6f7a8b","placed":false,"note":"not in the list of 03:10"}
 * ```
 *
 * All of it is refused where one line is wrong: whoever wrote a line twice, or with two meanings, should look at the
 * others again, too.
 */
import { z } from 'zod';
import { definedOnly } from './defined-only';
import { lazy } from './lazy';
import { describeProblems, firstOf, type Problem } from './problems';
import { foundServersSchema } from './requests';
import { bytesOf, check } from './validation';

export const evidenceLinesMax = 5_000;
/** Of the JSON. What a job has still to do travels from run to run, in one payload of Temporal's. */
export const evidenceBytesMax = 1024 * 1024;

const text = () => z.string('must be a string');

export const evidenceLineSchema = lazy(() =>
  z.strictObject({
    /** A reference; or a workflow id, such as `clean/PO-2026-0042`, where several sagas of the reference ask. */
    reference: text().regex(/^([a-z]{1,16}\/)?[A-Za-z0-9._:-]{1,128}$/, 'must be a reference, or a workflow id'),
    question: text().regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the id of the question that was read'),
    placed: z.boolean('must be true or false: whether it was placed'),
    vmObjectIds: foundServersSchema().optional(),
    /** As the provider's control panel shows it. */
    orderId: z
      .union(
        [text().min(1, 'must not be empty').max(200), z.int().transform(String)],
        'must be a string or a whole number',
      )
      .optional(),
    /** Where it differs from that of the whole. */
    note: text().min(1, 'must not be empty').max(2_000).optional(),
  }),
);

export interface EvidenceLine {
  reference: string;
  question: string;
  placed: boolean;
  vmObjectIds?: number[];
  orderId?: string;
  note?: string;
}

export type EvidenceRead = { ok: true; lines: EvidenceLine[] } | { ok: false; problems: Problem[] };

/** @param given a list; its first entry is line 1 */
export function readEvidence(given: unknown): EvidenceRead {
  const refused = (message: string): EvidenceRead => ({ ok: false, problems: [{ field: 'evidence', message }] });
  if (!Array.isArray(given)) return refused('must be a list of lines');
  if (given.length === 0) return refused('must have at least one line');
  if (given.length > evidenceLinesMax) return refused(`must not have more than ${evidenceLinesMax} lines`);
  const bytes = bytesOf(given);
  if (bytes === undefined) return refused('is not JSON');
  if (bytes > evidenceBytesMax) return refused(`must not have more than ${evidenceBytesMax} bytes`);
  const lines: EvidenceLine[] = [];
  const problems: Problem[] = [];
  for (const [index, entry] of given.entries()) {
    const checked = check(evidenceLineSchema(), entry);
    if (checked.ok) lines.push(definedOnly(checked.value));
    else problems.push(...checked.problems.map((problem) => wrongLine(index + 1, describeProblems([problem]))));
  }
  if (problems.length === 0) problems.push(...contradictionsIn(lines));
  return problems.length === 0 ? { ok: true, lines } : { ok: false, problems: firstOf(problems) };
}

/**
 * A file of JSON lines, the first one is line 1. An empty last line is none.
 *
 * @returns what stands in it, to be read by {@link readEvidence}
 */
export function parseEvidence(file: string): { ok: true; entries: unknown[] } | { ok: false; problems: Problem[] } {
  const texts = file.replace(/\r?\n$/, '').split(/\r?\n/);
  const problems: Problem[] = [];
  const entries = texts.map((line, index) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      problems.push(wrongLine(index + 1, line.trim() === '' ? 'is empty' : 'is not JSON'));
      return undefined;
    }
  });
  return problems.length === 0 ? { ok: true, entries } : { ok: false, problems: firstOf(problems) };
}

export function wrongLine(line: number, message: string): Problem {
  return { field: `line ${line}`, message };
}

/**
 * What is wrong with lines that are right, each by itself. A server or an order belongs to one call; a saga and its
 * clean-up ask the same question about one.
 */
function contradictionsIn(lines: readonly EvidenceLine[]): Problem[] {
  const problems: Problem[] = [];
  const sagas = new Map<string, { line: number; placed: boolean; question: string }>();
  const calls = new Map<string, { line: number; placed: boolean }>();
  const owners = new Map<string, { line: number; call: string }>();
  for (const [index, { reference, question, placed, vmObjectIds = [], orderId }] of lines.entries()) {
    const line = index + 1;
    const wrong = (message: string) => problems.push(wrongLine(line, message));
    const before = sagas.get(reference);
    if (before === undefined) sagas.set(reference, { line, placed, question });
    else if (before.question !== question) wrong(`names the reference of line ${before.line}, with another question`);
    else if (before.placed === placed) wrong(`stands in line ${before.line}, too`);
    else wrong(`contradicts line ${before.line}: one says placed, the other not`);
    if (!placed && (vmObjectIds.length > 0 || orderId !== undefined)) {
      wrong('contradicts itself: what was not placed has no servers and no order');
    }
    if (before !== undefined) continue;
    const call = `${reference.slice(reference.indexOf('/') + 1)} ${question}`;
    const other = calls.get(call);
    if (other === undefined) calls.set(call, { line, placed });
    else if (other.placed !== placed) {
      wrong(`contradicts line ${other.line}: both answer one question, and one says placed, the other not`);
    }
    const things = [...vmObjectIds.map((id) => `server ${id}`), ...(orderId === undefined ? [] : [`order ${orderId}`])];
    for (const thing of things) {
      const owner = owners.get(thing);
      if (owner === undefined) owners.set(thing, { line, call });
      else if (owner.call !== call) wrong(`contradicts line ${owner.line}: ${thing} is named by both`);
    }
  }
  return problems;
}
