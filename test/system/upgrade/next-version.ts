/**
 * A release after this one, that no longer replays what this one began: it does something first that this one does not.
 */
import { sleep } from '@temporalio/workflow';
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import { provisionServers as today } from '../../../src/workflows/sagas/provision-servers';

export * from '../../../src/workflows/index';

export async function provisionServers(request: ProvisionServersRequest): ReturnType<typeof today> {
  await sleep('1 millisecond');
  return today(request);
}
