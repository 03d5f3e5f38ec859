/** Asks before anything is sent what a saga would meet: one call, and no reference is taken. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index';
import { checkSchema, type CheckReport } from '../../domain/checking';
import { isUnsealed } from '../../domain/unsealed';
import { plaintextRefused, readRequest } from '../../saga/check-request';

const { checkAhead } = proxyActivities<Pick<Activities, 'checkAhead'>>({
  startToCloseTimeout: '50 seconds',
  retry: { maximumAttempts: 1 },
  summary: 'look what a saga would meet',
});

export async function check(input: unknown): Promise<CheckReport> {
  const request = readRequest(checkSchema(), input);
  const problems = isUnsealed(input) ? await plaintextRefused() : [];
  if (problems.length > 0) return { problems, refused: [], asks: [], unknown: [], limits: [] };
  return checkAhead(request);
}
