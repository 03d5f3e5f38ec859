/** What a receiver is sent, in the form of its route: a signed webhook, an event of PagerDuty, a message of Slack. */
import { Webhook } from 'standardwebhooks';
import { isLoopback } from '../domain/loopback';
import type { Message, Notice, Route, RouteFormat } from '../domain/notifications';

interface Sent {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** @returns a sentence where it is no secret of that form: what one is, and nothing of this one */
type Form = (route: Route, secret: string) => string | ((notice: Notice) => Sent);

/** https://www.standardwebhooks.com. Several secrets, while a receiver changes to another one, are separated by blanks. */
const webhook: Form = ({ url = '' }, secret) => {
  const secrets = secret.split(/\s+/).filter((one) => one !== '');
  if (secrets.length === 0) return 'its secret is empty';
  const signers = secrets.flatMap((one) => {
    try {
      return one.startsWith('whsec_') ? new Webhook(one) : [];
    } catch {
      // Its message has parts of the secret.
      return [];
    }
  });
  if (signers.length < secrets.length) return 'its secret is not whsec_ with base64 behind it';
  return ({ id, message }) => {
    const body = JSON.stringify(message);
    // Now, because a receiver refuses what was signed minutes ago.
    const at = new Date();
    const signatures = signers.map((signer) => signer.sign(id, at, body)).join(' ');
    const seconds = String(Math.floor(at.getTime() / 1000));
    return { url, body, headers: { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures } };
  };
};

const eventsUrl = 'https://events.pagerduty.com/v2/enqueue';

/** The Events API v2: an incident for each question, by one key, which ends with the wait. */
const pagerDuty: Form = ({ url = eventsUrl }, secret) => {
  const key = secret.trim();
  if (!/^\w{32}$/.test(key)) return 'its secret is not a routing key of PagerDuty: 32 letters and digits';
  return ({ message: { type, timestamp, data } }) => {
    const { workflowId, question, namespace, kind, step, account, link } = data;
    const of = { routing_key: key, dedup_key: `${workflowId}/${question}` };
    if (type === 'saga.settled') return asJson(url, { ...of, event_action: 'resolve' });
    const payload = {
      ...{ summary: sentenceOf(type, data), source: namespace, timestamp, custom_details: data },
      severity: isUrgent(kind) ? 'critical' : 'warning',
      ...{ component: step, group: account, class: kind },
    };
    const links = link === undefined ? undefined : [{ href: link, text: 'in the Web UI' }];
    return asJson(url, { ...of, event_action: 'trigger', payload, links, client: 'order-saga' });
  };
};

/** An incoming webhook: whoever knows its address can write there. */
const slack: Form = (_, secret) => {
  const url = secret.trim();
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : {};
  // A URL swallows line ends: two addresses would be one.
  if (/\s/.test(url) || (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname ?? ''))))
    return 'its secret is not the https:// address of a webhook of Slack';
  return ({ message: { type, data } }) => {
    const { choices = [], link } = data;
    const fits = choices.length > 0 ? ` Decisions that fit: ${choices.join(', ')}.` : '';
    const text = `${sentenceOf(type, data)}.${fits}`.replace(/[&<>]/g, (sign) => escapes[sign] ?? sign);
    return asJson(url, { text: link === undefined ? text : `${text} <${link}|in the Web UI>` });
  };
};

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const forms: Record<RouteFormat, Form> = { webhook, pagerduty: pagerDuty, slack };

/** @returns a sentence where nothing can be sent with that secret */
export const formOf: Form = (route, secret) => forms[route.format ?? 'webhook'](route, secret);

const asJson = (url: string, body: object): Sent => ({ url, headers: {}, body: JSON.stringify(body) });

/** Something may be bought twice, or is bought and open. The others wait for a yes or a no. */
const isUrgent = (kind: Message['data']['kind']) => ['stuck', 'outcome-unknown', 'servers'].includes(kind ?? '');

function sentenceOf(type: Message['type'], data: Message['data']): string {
  const { workflowId, kind, step, since, failure, state, decision, outcome, ended, leftovers = [], vmObjectIds } = data;
  const what = `${kind} at ${step}${failure === undefined ? '' : ` (${failure})`}`;
  switch (type) {
    case 'saga.waiting':
      return `${workflowId} waits for a person: ${what}`;
    case 'saga.reminder':
      return `${workflowId} has waited for a person since ${since}: ${what}`;
    case 'saga.settled':
      return `${workflowId} waits no more (${what}): ${decision ?? (state === 'running' ? 'it went on by itself' : 'it was cancelled, or has failed')}`;
    case 'saga.ended':
      return `${workflowId} has ended: ${ended}, ${outcome}${leftovers.length > 0 ? `; left: ${leftovers.join(', ')}` : ''}`;
    case 'saga.placed':
    case 'saga.servers':
    case 'saga.protected':
      return `${workflowId}: ${type.replace('saga.', '')}${vmObjectIds ? ` ${vmObjectIds.join(', ')}` : ''}`;
  }
}
