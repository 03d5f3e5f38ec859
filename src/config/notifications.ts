import { isIP } from 'node:net';
import { z } from 'zod';
import { routesSchema, type Route } from '../domain/notifications';
import { nameOfField } from '../domain/problems';
import { flag, list, whole } from './kinds';
import { readText } from './settings';

/** Who is told of what happens to sagas, and how. */
export interface NotificationConfig {
  routes: readonly Route[];
  /** Inner hosts and addresses that may be told all the same. */
  allowed: readonly string[];
  /** One exchange with a receiver. */
  timeoutMs: number;
}

/** A host name, an address, or a range of addresses. */
const inner = list
  .transform((all) => all.map((one) => one.toLowerCase()))
  .refine(
    (all) =>
      all.every(
        (one) => isRange(one) || (isIP(one) === 0 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(one) && /[a-z]/.test(one)),
      ),
    'must be host names, addresses or ranges, like hooks.internal, 10.1.2.3, 10.1.0.0/16, comma-separated',
  );

function isRange(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const most = { 4: 32, 6: 128 }[isIP(address)];
  return most !== undefined && (bits === undefined || Number(bits) <= most);
}

export const notificationSettings = {
  NOTIFICATION_ROUTES: z.string().optional(),
  NOTIFICATION_ROUTES_FILE: z.string().optional(),
  NOTIFICATION_ALLOW: inner.default([]),
  NOTIFICATION_ALLOW_HTTP: flag.default(false),
  /** A receiver takes what it gets and works on it later. */
  NOTIFICATION_TIMEOUT_MS: whole(100, 60_000).default(10_000),
};

type NotificationSettings = z.output<z.ZodObject<typeof notificationSettings>>;

/**
 * @returns undefined, and adds to `problems`, where the routes are wrong. No message has an address of them: it may be
 * a secret.
 */
export function readNotifications(
  { NOTIFICATION_ROUTES: inline, NOTIFICATION_ROUTES_FILE: file, ...settings }: NotificationSettings,
  problems: string[],
): NotificationConfig | undefined {
  if (inline !== undefined && file !== undefined) {
    problems.push('NOTIFICATION_ROUTES: cannot be set together with NOTIFICATION_ROUTES_FILE; set one of them');
    return undefined;
  }
  const name = file === undefined ? 'NOTIFICATION_ROUTES' : 'NOTIFICATION_ROUTES_FILE';
  const text = file === undefined ? inline : readText(name, file, problems);
  const routes = text === undefined ? [] : parseRoutes(name, text, problems);
  if (routes === undefined || (file !== undefined && text === undefined)) return undefined;
  if (!settings.NOTIFICATION_ALLOW_HTTP) requireHttps(name, routes, problems);
  return {
    routes,
    allowed: settings.NOTIFICATION_ALLOW,
    timeoutMs: settings.NOTIFICATION_TIMEOUT_MS,
  };
}

function parseRoutes(name: string, text: string, problems: string[]): Route[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    problems.push(`${name}: must be JSON, like [{"name":"ops","url":"https://…","secret":"webhook-ops"}]`);
    return undefined;
  }
  const parsed = routesSchema().safeParse(json);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const at = nameOfField(issue.path);
    const unknown = issue.code === 'unrecognized_keys' ? `has no field ${issue.keys.join(', ')}` : issue.message;
    problems.push(`${name}${at === '' ? '' : at.startsWith('[') ? at : `.${at}`}: ${unknown}`);
  }
  return undefined;
}

function requireHttps(name: string, routes: readonly Route[], problems: string[]): void {
  for (const { name: route, url } of routes) {
    if (new URL(url).protocol !== 'http:') continue;
    problems.push(`${name}: the url of ${route} must be https: (http: only with NOTIFICATION_ALLOW_HTTP=true)`);
  }
}
