/** Sagas that are held, and for which no worker answers: as of a version without workers. */
import { workflowIdOf } from '../../src/domain/identity';
import { sagaAttributes } from '../../src/temporal/search-attributes';
import type { Rig } from './rig';

const prefix = workflowIdOf('provisionServers', 'mute-');

/** Their histories have no workflow task. */
export const isMute = ({ workflowId }: { workflowId: string }): boolean => workflowId.startsWith(prefix);

/** @returns their workflow ids, once the list shows them; each has waited since the year 2000 */
export async function muteSagas({ temporal, sagas }: Rig, count: number): Promise<string[]> {
  const before = await sagas.countHeld();
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  for (const workflowId of ids) {
    await temporal.workflow.start('provisionServers', {
      ...{ workflowId, taskQueue: 'nobody', args: [{}] },
      typedSearchAttributes: [
        { key: sagaAttributes.state, value: 'held' },
        { key: sagaAttributes.step, value: 'take-reference' },
        { key: sagaAttributes.question, value: 'q' },
        { key: sagaAttributes.waitingSince, value: new Date('2000-01-01T00:00:00Z') },
      ],
    });
  }
  while ((await sagas.countHeld()) < before + count);
  return ids;
}
