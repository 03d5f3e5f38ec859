/** The commands that look at what waits, and at what a decision would lead to. They change nothing. */
import { decisionHints } from '../domain/decisions';
import { previewable, type NextStep, type Preview } from '../domain/preview';
import { withSaga } from './commands';
import type { CommandContext, Target } from './command-context';
import { exitStatus, UsageError } from './exit-status';
import { parseJson } from './read-request';

export async function preview(
  { printer }: CommandContext,
  target: Target,
  decision: string,
  json: string | undefined,
): Promise<number> {
  const name = previewable.find((known) => known === decision);
  if (name === undefined) throw new UsageError(`there is no decision ${decision}; there are ${previewable.join(', ')}`);
  const example = name === 'cancel' ? '{}' : decisionHints[name].example;
  const body = json === undefined ? undefined : parseJson(json, `the decision’s JSON, like ${example},`);
  return withSaga(target, async (_sagas, saga) => {
    const told = await saga.preview(name, body);
    for (const line of describePreview(told, saga.workflowId)) printer.line(line);
    printer.document({ workflowId: saga.workflowId, ...told });
    return told.refused === undefined ? exitStatus.done : exitStatus.refused;
  });
}

function describePreview({ decision, does, question, refused, next, spends, notes }: Preview, id: string): string[] {
  const about = question === undefined ? '' : `, question ${question}`;
  if (refused !== undefined) return [`${id}: ${decision} would be refused${about}: ${refused}`];
  return [
    `${id}: ${decision}${about}: ${does}`,
    next.length === 0 ? '  then: no call of the provider' : '  then, where the provider takes each call:',
    ...next.flatMap(describeStep),
    `  it spends: ${spends}`,
    ...notes.map((note) => `  note: ${note}`),
  ];
}

function describeStep({ title, calls, when, each, undoes, irreversible }: NextStep): string[] {
  const facts = [
    ...(irreversible ? ['cannot be undone'] : []),
    ...(undoes ? ['undo'] : []),
    ...(each ? ['for each'] : []),
    ...(when === undefined ? [] : [`only ${when}`]),
  ];
  return [
    `    ${title}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`,
    ...calls.map(
      ({ call, changes, when: only }) =>
        `      ${changes ? 'sends' : 'looks'}  ${call}${only === undefined ? '' : `, ${only}`}`,
    ),
  ];
}
