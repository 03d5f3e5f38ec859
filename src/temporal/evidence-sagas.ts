/** Which saga each line of evidence is about: asked of visibility, a hundred references at a time. */
import type { Client } from '@temporalio/client';
import { wrongLine } from '../domain/evidence';
import { readWorkflowId, workflowIdOf, workflowNames } from '../domain/identity';
import { firstOf, type Problem } from '../domain/problems';
import { readWaiting } from './waiting-sagas';

const referencesAtOnce = 100;

/** What a line of evidence says of its saga. */
export interface Named {
  reference: string;
  question: string;
}

interface Known {
  workflowId: string;
  /** Undefined: it waits for nobody. */
  question: string | undefined;
}

export type Found = { ok: true; workflowIds: string[] } | { ok: false; problems: Problem[] };

/**
 * @returns the workflow id of each line's saga, in their order: one that has ended or asks another question is known as
 * well, and learns of it when it is decided. Problems name lines: of a reference that no saga has, or that several
 * have.
 */
export async function findNamed(client: Client, lines: readonly Named[]): Promise<Found> {
  const known = await sagasOf(client, [...new Set(lines.map(({ reference }) => bare(reference)))]);
  const problems: Problem[] = [];
  const owners = new Map<string, number>();
  const workflowIds = lines.map(({ reference, question }, index) => {
    const line = index + 1;
    const sagas = (known.get(bare(reference)) ?? []).filter(
      ({ workflowId }) => reference === bare(reference) || workflowId === reference,
    );
    const asking = sagas.filter((saga) => saga.question === question);
    const [one, ...others] = asking.length > 0 ? asking : sagas;
    if (one === undefined) problems.push(wrongLine(line, `no saga has the reference ${reference}`));
    else if (others.length > 0) {
      const all = [one, ...others].map(({ workflowId }) => workflowId).join(', ');
      problems.push(wrongLine(line, `${reference} names several sagas: ${all}. Name one of these`));
    } else {
      const owner = owners.get(one.workflowId);
      if (owner !== undefined) problems.push(wrongLine(line, `is about the saga of line ${owner}`));
      owners.set(one.workflowId, line);
    }
    return one?.workflowId ?? '';
  });
  return problems.length === 0 ? { ok: true, workflowIds } : { ok: false, problems: firstOf(problems) };
}

/** One entry for each saga, whatever runs of it there are: the one that goes on, where there is one. */
async function sagasOf(client: Client, references: readonly string[]): Promise<Map<string, Known[]>> {
  const found = new Map<string, Known[]>();
  for (let from = 0; from < references.length; from += referencesAtOnce) {
    const some = references.slice(from, from + referencesAtOnce);
    // By id: a run that was started without search attributes, and has ended before it set them, has no reference to be
    // found by.
    const ids = some.flatMap((reference) => workflowNames.map((workflow) => workflowIdOf(workflow, reference)));
    const query = `WorkflowId IN (${ids.map((id) => `'${id}'`).join(', ')})`;
    for await (const run of client.workflow.list({ query, pageSize: 1_000 })) {
      const named = readWorkflowId(run.workflowId);
      if (named?.workflow !== run.type) continue;
      const sagas = found.get(named.reference) ?? [];
      found.set(named.reference, sagas);
      const question = readWaiting(run)?.question;
      const before = sagas.find(({ workflowId }) => workflowId === run.workflowId);
      if (before === undefined) sagas.push({ workflowId: run.workflowId, question });
      else before.question ??= question;
    }
  }
  return found;
}

function bare(reference: string): string {
  return reference.slice(reference.indexOf('/') + 1);
}
