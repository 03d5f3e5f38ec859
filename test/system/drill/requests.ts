/** What the shop sells that night: mostly servers, and now and then a change of a subscription or of a plan. */
import type { ProvisionServersRequest } from '../../../src/domain/requests';
import type { Asked } from '../../support/promises';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';

/** @param nth from 0 on */
export function requestNumber(nth: number): Asked {
  if (nth % 10 === 8) return { workflow: 'changeOrder', request: changeRequest() };
  if (nth % 10 === 9) return { workflow: 'switchPlan', request: switchRequest() };
  const items = [{ quantity: nth % 5 === 0 ? 2 : 1 }];
  const request = provisionRequest({ items, firewalls: [143] }) as ProvisionServersRequest;
  return { workflow: 'provisionServers', request };
}
