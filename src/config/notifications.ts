import { z } from 'zod';
import { parseJson } from '../domain/json';
import { routesSchema } from '../domain/notifications';
import { flag, given, listOf, parsedBy } from './parsers';
import { from, fromTextOrFile } from './settings';

/** A host name, an address, or a range of addresses. */
const inner = listOf((one) => {
  const isName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(one) && /[a-z]/i.test(one);
  return isName || z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]).safeParse(one).success;
}, 'must be host names, addresses or ranges, like hooks.internal, 10.1.2.3, 10.1.0.0/16').transform((all) =>
  all.map((one) => one.toLowerCase()),
);

const like = 'must be like [{"name":"ops","url":"https://…","secret":"webhook-ops"}], and';
const routes = parsedBy(given, ({ text }) => parseJson(text, like)).pipe(z.lazy(routesSchema));

export const notificationSettings = z.object({
  routes: fromTextOrFile('NOTIFICATION_ROUTES', routes.default([])),
  /** Inner hosts and addresses that may be notified. */
  allowed: from('NOTIFICATION_ALLOW', inner.default([])),
  allowHttp: from('NOTIFICATION_ALLOW_HTTP', flag.default(false)),
});

/** One exchange with a receiver, which takes what it gets and works on it later. */
const timeoutMs = 10_000;

/** Reads who is notified of what, and how. No problem has an address of a route: it may be a secret. */
export function readNotifications(settings: z.output<typeof notificationSettings> | undefined, problems: string[]) {
  if (settings === undefined) return undefined;
  const { routes, allowed, allowHttp } = settings;
  const inTheClear = allowHttp ? [] : routes.filter(({ url }) => url?.startsWith('http:'));
  for (const { name } of inTheClear) {
    const only = '(http: only with NOTIFICATION_ALLOW_HTTP=true)';
    problems.push(`NOTIFICATION_ROUTES: the url of ${name} must be https: ${only}`);
  }
  return { routes, allowed, timeoutMs };
}
