/** What a receiver gets in each form; and no secret in anything that is said of it. */
import { Webhook } from 'standardwebhooks';
import type { Notice, NotificationEvent, RouteFormat } from '../../../src/domain/notifications';
import { formOf } from '../../../src/notifications/forms';
import { noticeOf, routeTo } from '../../support/receiver';

const [one, other] = ['one', 'other'].map((text) => `whsec_${Buffer.from(text).toString('base64')}`);
const routingKey = 'R0'.padEnd(32, 'A1B2');
const slackUrl = 'https://hooks.slack.com/services/T0/B0/T0KEN';

const sentIn = (format: RouteFormat, secret: string, notice: Notice, url?: string) => {
  const form = formOf(routeTo(url, format), secret);
  if (typeof form === 'string') throw new Error(form);
  return form(notice);
};

const said = (format: RouteFormat, secret: string, event: NotificationEvent, changes: object = {}, url?: string) => {
  const { body, ...sent } = sentIn(format, secret, noticeOf(event, changes), url);
  return { ...sent, body: JSON.parse(body) as Record<string, unknown> };
};

describe('a webhook', () => {
  it('is signed with each of several secrets', () => {
    const { body, headers } = sentIn('webhook', `${one}\n${other}`, noticeOf('waiting'), 'https://ops.example/');
    for (const known of [one, other]) new Webhook(known!).verify(body, headers);
    expect(() => new Webhook(`whsec_${'A'.repeat(16)}`).verify(body, headers)).toThrow();
  });
});

describe('PagerDuty', () => {
  const link = 'https://temporal.example/namespaces/orders/workflows/provision%2FPO-1/r1/history';

  it('gets a trigger with what happened and where', () => {
    const { url, body } = said('pagerduty', `${routingKey}\n`, 'waiting', { link, choices: ['retry'] });
    expect(url).toBe('https://events.pagerduty.com/v2/enqueue');
    expect(body).toEqual({
      ...{ routing_key: routingKey, event_action: 'trigger', dedup_key: 'provision/PO-1/5f0c9a1e' },
      payload: {
        summary: 'provision/PO-1 waits for a person: stuck at place-order (Unauthorized)',
        ...{ source: 'orders', severity: 'critical', timestamp: '2026-11-23T02:14:07.512Z' },
        ...{ component: 'place-order', group: 'AB-1', class: 'stuck' },
        custom_details: noticeOf('waiting', { link, choices: ['retry'] }).message.data,
      },
      links: [{ href: link, text: 'in the Web UI' }],
      client: 'order-saga',
    });
  });

  it('gets one key for all of a question, and another one for the next question, and for another saga', () => {
    const keys = (['waiting', 'reminder', 'settled'] as const).map(
      (event) => said('pagerduty', routingKey, event).body['dedup_key'],
    );
    expect(new Set(keys).size).toBe(1);
    for (const changes of [{ question: '00000000' }, { workflowId: 'provision/PO-2' }])
      expect(keys).not.toContain(said('pagerduty', routingKey, 'waiting', changes).body['dedup_key']);
  });

  it('gets a resolve where the wait is over, and wakes nobody for a yes or a no', () => {
    const { body } = said('pagerduty', routingKey, 'settled', { decision: 'retry' });
    expect(body).toMatchObject({ event_action: 'resolve', dedup_key: 'provision/PO-1/5f0c9a1e' });
    expect(said('pagerduty', routingKey, 'waiting', { kind: 'approval' }).body).toMatchObject({
      payload: { severity: 'warning' },
    });
  });

  it('may be asked at another address', () => {
    const eu = 'https://events.eu.pagerduty.com/v2/enqueue';
    expect(said('pagerduty', routingKey, 'waiting', {}, eu).url).toBe(eu);
  });
});

describe('Slack', () => {
  it.each<[NotificationEvent, object, string]>([
    [
      'waiting',
      { choices: ['retry', 'markDone'], link: 'https://t.example/1' },
      'provision/PO-1 waits for a person: stuck at place-order (Unauthorized). Decisions that fit: retry, markDone. <https://t.example/1|in the Web UI>',
    ],
    [
      'reminder',
      { since: '2026-11-23T01:14:07.512Z', failure: undefined },
      'provision/PO-1 has waited for a person since 2026-11-23T01:14:07.512Z: stuck at place-order.',
    ],
    ['settled', { decision: 'retry' }, 'provision/PO-1 waits no more (stuck at place-order (Unauthorized)): retry.'],
    [
      'settled',
      { state: 'running', failure: undefined },
      'provision/PO-1 waits no more (stuck at place-order): it went on by itself.',
    ],
    [
      'settled',
      { state: 'undoing', failure: undefined },
      'provision/PO-1 waits no more (stuck at place-order): it was cancelled, or has failed.',
    ],
    ['placed', {}, 'provision/PO-1: placed.'],
    ['servers', { vmObjectIds: [9001, 9002] }, 'provision/PO-1: servers 9001, 9002.'],
    [
      'ended',
      { ended: 'cancelled', outcome: 'reversed-with-leftovers', leftovers: ['cart-item'] },
      'provision/PO-1 has ended: cancelled, reversed-with-leftovers; left: cart-item.',
    ],
    // A text of its own form may name everybody, and lead anywhere.
    ['placed', { workflowId: '<!channel> & <https://x|y>' }, '&lt;!channel&gt; &amp; &lt;https://x|y&gt;: placed.'],
  ])('gets a sentence of saga.%s %j', (event, changes, text) => {
    expect(said('slack', slackUrl, event, changes)).toEqual({ url: slackUrl, headers: {}, body: { text } });
  });
});

describe('a secret', () => {
  it.each<[RouteFormat, string[]]>([
    ['webhook', [one!, `${one}\n${other}`, ` ${one} `]],
    ['pagerduty', [routingKey, ` ${routingKey}\n`]],
    ['slack', [slackUrl, `${slackUrl}\n`, 'http://127.0.0.1:8080/']],
  ])('of a %s is taken', (format, secrets) => {
    for (const secret of secrets)
      expect(formOf(routeTo('https://ops.example/', format), secret)).toBeInstanceOf(Function);
  });

  it.each<[RouteFormat, string[]]>([
    ['webhook', ['', ' ', 'whsec_', 'whsec_!!!', `${one} whsec_!!!`, 'test', 'aGVsbG8=']],
    ['pagerduty', ['', 'R0SHORT', `${routingKey}A`, one!, slackUrl]],
    [
      'slack',
      [
        '',
        'hooks.slack.com/T0KEN',
        'http://hooks.slack.com/T0KEN',
        routingKey,
        'javascript:T0KEN',
        `${slackUrl}\n${slackUrl}`,
      ],
    ],
  ])('of another form is no secret of a %s, and what is said does not have it', (format, secrets) => {
    for (const secret of secrets) {
      const why = formOf(routeTo('https://ops.example/', format), secret);
      expect(why).toMatch(/^its secret is /);
      if (secret.trim().length > 6) expect(why).not.toContain(secret.trim());
    }
  });
});
