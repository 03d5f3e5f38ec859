/** Asks before anything is sent what a saga would meet: one call, and no reference is taken. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index';
import { checkSchema, type CheckReport } from '../../domain/checking';
import { readRequest } from '../../saga/check-request';

const { checkAhead } = proxyActivities<Pick<Activities, 'checkAhead'>>({
  startToCloseTimeout: '50 seconds',
  retry: { maximumAttempts: 1 },
  summary: 'look what a saga would meet',
});

export async function check(input: unknown): Promise<CheckReport> {
  return checkAhead(readRequest(checkSchema(), input));
}
