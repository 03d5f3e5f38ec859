/** What may be asked for, in sweep, chaos and drill: of every workflow, the requests that take another way through it. */
import type { Asked } from './promises';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from './requests';

export const provision =
  (changes: Parameters<typeof provisionRequest>[0] = {}) =>
  (): Asked => ({ workflow: 'provisionServers', request: provisionRequest(changes) });
const change = (changes?: object) => (): Asked => ({
  workflow: 'changeOrder',
  request: changeRequest({ ...changes }),
});
const switchPlan = (changes?: object) => (): Asked => ({
  workflow: 'switchPlan',
  request: switchRequest({ ...changes }),
});
const firewalls = (changes: object) => (): Asked => ({
  workflow: 'setFirewalls',
  request: firewallsRequest({ ...changes }),
});

/** What the server of a change of firewalls has before. */
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
