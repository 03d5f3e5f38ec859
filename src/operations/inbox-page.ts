/**
 * Which sagas wait, for Prometheus: a page beside the metrics, because a series of it names a saga. It has the
 * few of each kind that have waited longest, so that it is never larger; one that waits no more is not on the next
 * page, as it would be for ever among the SDK's metrics.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InboxRow } from '../client/inbox';
import type { WebUi } from '../domain/web-ui';
import type { ListenAddress } from '../config';
import { metrics } from '../domain/metrics';
import { CannotListen, inUrl } from './cannot-listen';

/** Of each kind. Enough to see what to begin with; `order-saga inbox` has them all. */
export const inboxPageRowsMax = 15;

/** Several who ask at once, or a moment after each other, cost one look. */
const freshMs = 10_000;

export interface InboxPage {
  readonly url: string;
  /** Until it is set, the worker is starting. */
  read: () => Promise<string>;
  close: () => Promise<void>;
}

/** @throws CannotListen */
export async function startInboxPage(address: ListenAddress): Promise<InboxPage> {
  let last: { atMs: number; page: Promise<string> } | undefined;
  const fresh = () => {
    if (last === undefined || Date.now() - last.atMs > freshMs) {
      const page = inboxPage.read();
      const asked = { atMs: Date.now(), page };
      last = asked;
      page.catch(() => {
        if (last === asked) last = undefined;
      });
    }
    return last.page;
  };
  const server = createServer((request, response) => {
    const answer = (status: number, text: string) =>
      response
        .writeHead(status, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' })
        .end(text);
    if (request.url !== '/metrics') answer(404, 'not found: there is only /metrics\n');
    else {
      fresh().then(
        (page) => answer(200, page),
        (error: unknown) => answer(503, `${error instanceof Error ? error.message : String(error)}\n`),
      );
    }
  });
  await once(server.listen(address), 'listening').catch((error: unknown) => {
    throw new CannotListen('INBOX_ADDRESS', address, error);
  });
  const { port } = server.address() as AddressInfo;
  const inboxPage: InboxPage = {
    url: `http://${inUrl({ ...address, port })}/metrics`,
    read: () => Promise.reject(new Error('the worker is starting')),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return inboxPage;
}

/** In Prometheus’s text format. */
export function describeRows(
  rows: readonly InboxRow[],
  { namespace, webUi, nowMs }: { namespace: string; webUi: WebUi | undefined; nowMs: number },
): string {
  const { name, help } = metrics.inboxAge;
  const lines = rows.map((row) => {
    const { reference, workflowId, kind, step = '', account = '', waitingSince } = row;
    const link = webUi?.run(row) ?? '';
    const labels = { namespace, kind, step, account, reference, workflowId, link };
    const told = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
    return `${name}{${told.join(',')}} ${Math.max(0, nowMs - waitingSince.getTime()) / 1000}`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.map((line) => `${line}\n`).join('')}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
}
