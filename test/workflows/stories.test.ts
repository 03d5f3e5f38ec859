/**
 * Each way in which a saga may end or wait, told to the last word: what its progress and its outcome say, and which activities it
 * asked for under which names. Meant changes are accepted with `npx jest test/workflows/stories -u`, and read before.
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
  const told = { progress, outcome: waits ? undefined : await outcomeOf(saga), activities: await activitiesOf(run) };
  expect(withoutChance(told, saga.reference)).toMatchSnapshot();
  if (waits) await saga.cancel();
});

/** Of two calls side by side either comes first, so ids cannot be told apart. */
function withoutChance(told: unknown, reference: string): string {
  return JSON.stringify(told, null, 1)
    .replaceAll(reference, '<reference>')
    .replace(/AB-\d+/g, '<account>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, '<run>')
    .replace(/\b\d{3,}\b/g, (found) => (known.has(found) ? found : '<id>'));
}

/** Statuses, and what the stories ask for. */
const known = new Set(['401', '422', '143', '144', '150']);
