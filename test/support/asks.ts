/** The stories of sweep, chaos, drill and disasters: the requests that take another way through each workflow. */
import type { Asked } from './promises';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from './requests';

export const provision =
  (changes: Parameters<typeof provisionRequest>[0] = {}) =>
  (): Asked => ({ workflow: 'provisionServers', request: provisionRequest(changes) });
export const change = (changes?: object) => (): Asked => ({
  workflow: 'changeOrder',
  request: changeRequest({ ...changes }),
});
const switchPlan = (changes?: object) => (): Asked => ({
  workflow: 'switchPlan',
  request: switchRequest({ ...changes }),
});
export const firewalls =
  (changes: object = {}) =>
  (): Asked => ({
    workflow: 'setFirewalls',
    request: firewallsRequest({ ...changes }),
  });

/** The firewalls of a server before they are changed. */
export const firewallsBefore = [1, 2];

/** By workflow, and by name; each makes another request. */
export const asks = {
  provisionServers: {
    'provision one item': provision(),
    'provision three items with a firewall': provision({
      items: [{}, { os_template_id: 4 }, { os_template_id: 5 }],
      firewalls: [143],
    }),
    'provision two of an item with two firewalls': provision({ items: [{ quantity: 2 }], firewalls: [143, 144] }),
  },
  changeOrder: {
    change: change(),
    'change that is approved': change({ approval: 'always' }),
    'change that is only quoted': change({ quoteOnly: true }),
    'change that breaks its guard': change({ guard: { maxTotal: 1 } }),
  },
  switchPlan: {
    switch: switchPlan(),
    'switch that is approved': switchPlan({ approval: { above: 1 } }),
    'switch that is only quoted': switchPlan({ quoteOnly: true }),
  },
  setFirewalls: {
    'firewalls assigned': firewalls({ assign: [143, 144] }),
    'firewalls exchanged': firewalls({ assign: [143], unassign: [1] }),
    'firewalls to an exact set': firewalls({ assign: undefined, exactly: [2, 143] }),
  },
};
