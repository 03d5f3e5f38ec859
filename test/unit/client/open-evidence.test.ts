/** What is asked for evidence where more sagas ask than one file takes: as many as fit, and how many are left. */
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { listDoubtful } from '../../../src/client/jobs';
import { evidenceLinesMax } from '../../../src/domain/evidence';
import { sagaAttributes } from '../../../src/temporal/search-attributes';

/** The youngest first, as visibility shows them. */
function* asking(count: number) {
  for (let index = count; index > 0; index -= 1) {
    yield {
      ...{ workflowId: `change/R-${index}`, type: 'changeOrder', status: { name: 'RUNNING' } },
      typedSearchAttributes: new TypedSearchAttributes([
        { key: sagaAttributes.state, value: 'outcome-unknown' },
        { key: sagaAttributes.step, value: 'place-change-order' },
        { key: sagaAttributes.question, value: `q-${index}` },
        { key: sagaAttributes.waitingSince, value: new Date(index * 1_000) },
      ]),
    };
  }
}

it.each([
  [3, 0],
  [evidenceLinesMax, 0],
  [evidenceLinesMax + 7, 7],
])('of %d that ask, %d are left for the next file', async (count, left) => {
  const temporal = { workflow: { list: () => asking(count) } } as unknown as Client;
  const { lines, more } = await listDoubtful(temporal, undefined);
  expect(more).toBe(left);
  expect(lines).toHaveLength(count - left);
  expect(lines[0]).toEqual({ reference: 'change/R-1', question: 'q-1', placed: null });
  expect(lines.at(-1)?.reference).toBe(`change/R-${count - left}`);
});
