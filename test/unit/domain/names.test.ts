/** Workflow ids, names of secrets, and the hints of decisions. */
import { decisionHints, decisionNames, decisionSchemas, exampleFor } from '../../../src/domain/decisions';
import { readWorkflowId } from '../../../src/domain/identity';
import { requestSchemas } from '../../../src/domain/requests';
import { secretReferenceSchema } from '../../../src/domain/secrets';
import { check } from '../../../src/domain/validation';
import { provisionRequest } from '../../support/requests';

describe('a workflow id', () => {
  it.each(['PO-1', 'order/PO-1', 'provision', 'provision/', 'provision/a/b', '/PO-1', 'Xprovision/PO-1', 'provision1'])(
    'that is not ours is none: %s',
    (workflowId) => {
      expect(readWorkflowId(workflowId)).toBeUndefined();
    },
  );
});

it.each(['-x', 'a b', ' ax', 'ax ', '', 'x'.repeat(129)])('the name of a secret is not %j', (secret) => {
  expect(check(secretReferenceSchema(), { secret })).toMatchObject({
    problems: [{ message: 'must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, a letter or digit first' }],
  });
});

it.each(['webhook-ops', 'webhook_ops', 'WEBHOOK.ops', 'Webhook-'])(
  'a request cannot name %s: it may be a webhook’s',
  (secret) => {
    const request = provisionRequest({ items: [{ custom_script: { secret } }] });
    expect(check(requestSchemas().provisionServers(), request)).toMatchObject({
      problems: [{ field: 'items[0].custom_script.secret', message: expect.stringContaining('webhook-') as string }],
    });
  },
);

it.each(['webhook', 'webhooks-password', 'my-webhook-ops'])('a request may name %s', (secret) => {
  expect(check(secretReferenceSchema(), { secret })).toMatchObject({ ok: true });
});

describe('what the Web UI shows of a decision', () => {
  it('has no object id that could be true, and as many places as there are servers', () => {
    const filled = JSON.parse(exampleFor('provideServers', { id: '7f3a90c1', servers: 2 })) as object;
    expect(filled).toMatchObject({ vmObjectIds: ['object id 1', 'object id 2'] });
    expect(decisionSchemas.provideServers().safeParse(filled).success).toBe(false);
  });

  it.each(decisionNames.filter((name) => name !== 'provideServers'))(
    '%s is explained, with an example that is taken',
    (name) => {
      const { does, example } = decisionHints[name];
      expect(does).toMatch(/^[A-Z][^.]{15,}$/);
      expect(decisionSchemas[name]().safeParse(JSON.parse(example)).error).toBeUndefined();
      expect(JSON.parse(example)).toMatchObject({ by: 'you' });
      // The id of the question that it is for is filled in.
      const filled = JSON.parse(exampleFor(name, { id: '7f3a90c1' })) as Record<string, unknown>;
      expect(filled).toEqual({ ...JSON.parse(example), question: '7f3a90c1' });
      expect(Object.keys(filled)[0]).toBe('question');
      expect(decisionSchemas[name]().safeParse(filled).error).toBeUndefined();
    },
  );
});
