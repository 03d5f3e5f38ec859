export { provisionServers } from './stories/provision-servers';
export { changeOrder } from './stories/change-order';
export { switchPlan } from './stories/switch-plan';
export { setFirewalls } from './stories/set-firewalls';
export { cleanCart } from './stories/clean-cart';
export { hold } from './fleet/hold';
export { reconcile } from './fleet/reconcile';
export { notify } from './fleet/notify';
