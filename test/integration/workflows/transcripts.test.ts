/**
 * Each way in which a saga may end or wait, to the last word: what its progress says, what its outcome says beyond
 * that, and which activities it called under which names. Read a change before you accept it with
 * `npx jest workflows/transcripts -u`.
 */
import { stories, type Story } from '../../system/histories/stories';
import { Rig } from '../../support/rig';
import { activitiesOf } from '../../support/events';
import { outcomeOf } from '../../support/sagas';
import { transcriptOf } from '../../support/transcript';

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
  const outcome = waits ? undefined : await outcomeOf(saga);
  const transcript = transcriptOf(progress, outcome, await activitiesOf(run));
  expect(withoutChance(transcript, saga.reference)).toMatchSnapshot();
  if (waits) await saga.cancel();
});

/** Of two calls side by side either comes first, so ids cannot be told apart. */
function withoutChance(told: string, reference: string): string {
  return told
    .replaceAll(reference, '<reference>')
    .replace(/AB-\d+/g, '<account>')
    .replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z| [\d:]+ UTC)/g, '<time>')
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, '<run>')
    .replace(/\b[\da-f]{8}\b(?=:| )/g, '<question>')
    .replace(/\b\d{3,}\b/g, (found) => (known.has(found) ? found : '<id>'));
}

/** Statuses, and what the stories ask for. */
const known = new Set(['401', '422', '143', '144', '150']);
