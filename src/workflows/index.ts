export { provisionServers } from './provision-servers';
export { changeOrder } from './change-order';
export { switchPlan } from './switch-plan';
export { setFirewalls } from './set-firewalls';
export { cleanCart } from './clean-cart';
export { hold, releaseHeld } from './hold';
export { firewallsOf } from './firewalls-of';
export { reconcile } from './reconcile';
export { decideMany } from './decide-many';
