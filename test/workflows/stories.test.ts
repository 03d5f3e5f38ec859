/**
 * Each way in which a saga may end or wait, told to the last word: what its progress says, what its outcome says beyond that, and
 * which activities it asked for under which names. Meant changes are accepted with `npx jest test/workflows/stories -u`, and read before.
 */
import { stories, type Story } from '../histories/stories';
import { Rig } from '../support/rig';
import { activitiesOf } from '../support/events';
import { outcomeOf } from '../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

/** Which of two calls that run side by side meets the fault is chance. */
const byChance = ['provision, an item not deleted and left behind', 'provision, slowed down and tried again'];
const settled = Object.entries(stories).filter(([name]) => !byChance.includes(name));

it.each(settled)('%s', async (_name, story: Story) => {
  const saga = await story(rig);
  const progress = await saga.progress();
  const waits = progress.waiting !== undefined;
  const run = rig.temporal.workflow.getHandle(saga.workflowId);
  const outcome = waits ? undefined : withoutRepeats(await outcomeOf(saga), progress);
  const told = { progress, ...(outcome ? { outcome } : {}), activities: await activitiesOf(run) };
  expect(withoutChance(transcript(told), saga.reference)).toMatchSnapshot();
  if (waits) await saga.cancel();
});

/** Of what an outcome says, what the progress has not said already. */
function withoutRepeats(outcome: unknown, progress: object): unknown {
  const said = new Set(Object.entries(progress).map(([key, value]) => `${key}:${JSON.stringify(value)}`));
  const isFresh = (key: string, value: unknown) => !said.has(`${key}:${JSON.stringify(value)}`);
  return JSON.parse(JSON.stringify(outcome), (key, value: unknown) => (isFresh(key, value) ? value : undefined));
}

/** As JSON, but a line for each thing that fits on one. */
function transcript(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || line.length < 100) return line;
  const deeper = `${indent}  `;
  const isFlat = !Array.isArray(value) && Object.values(value).every((part) => typeof part !== 'object');
  if (isFlat) return line;
  const parts = Object.entries(value as object).map(
    ([key, part]) => `${deeper}${Array.isArray(value) ? '- ' : `${key}: `}${transcript(part, deeper)}`,
  );
  return `\n${parts.join('\n')}`;
}

/** Of two calls side by side either comes first, so ids cannot be told apart. */
function withoutChance(told: string, reference: string): string {
  return told
    .replaceAll(reference, '<reference>')
    .replace(/AB-\d+/g, '<account>')
    .replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z| [\d:]+ UTC)/g, '<time>')
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, '<run>')
    .replace(/"[\da-f]{8}"/g, '"<question>"')
    .replace(/\b\d{3,}\b/g, (found) => (known.has(found) ? found : '<id>'));
}

/** Statuses, and what the stories ask for. */
const known = new Set(['401', '422', '143', '144', '150']);
