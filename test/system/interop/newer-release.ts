/** A saga of a release to come, as its clients see it: with a state, a milestone, fields and a failure of its own. */
import { ApplicationFailure, condition, defineQuery, defineSignal, setHandler } from '@temporalio/workflow';

export async function provisionServers({ reference }: { reference: string }): Promise<never> {
  const of = { reference, workflow: 'provisionServers', leftovers: [], steps: [] };
  const reached = [{ milestone: 'paid', at: '2030-01-01T00:00:00.000Z' }];
  setHandler(defineQuery('progress'), () => ({
    ...of,
    ...{ state: 'negotiating', reached, decisions: [], price: 'high' },
  }));
  let isOver = false;
  setHandler(defineSignal('over'), () => {
    isOver = true;
  });
  await condition(() => isOver);
  const report = { ...of, outcome: 'reversed', why: 'too dear', known: {}, decisions: [], refunds: [1] };
  throw ApplicationFailure.nonRetryable('too dear', 'TooDear', report);
}
