export { provisionServers } from './sagas/provision-servers';
export { changeOrder } from './sagas/change-order';
export { switchPlan } from './sagas/switch-plan';
export { setFirewalls } from './sagas/set-firewalls';
export { cleanCart } from './sagas/clean-cart';
export { hold } from './fleet/hold';
export { reconcile } from './fleet/reconcile';
export { notify } from './fleet/notify';
