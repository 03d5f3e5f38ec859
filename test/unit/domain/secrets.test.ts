import { fc } from '../../support/properties';
import { redact, redactedMark, secretFields } from '../../../src/domain/secrets';

it('blanks out every secret, however deep, and nothing else', () => {
  const path = fc.array(fc.constantFrom('items', 'a', '0'), { maxLength: 5 });
  // Also what has the shape of no secret.
  const secret = fc.constantFrom<unknown>('canary', { nested: 'canary' }, ['canary'], 7);
  fc.assert(
    fc.property(fc.constantFrom(...secretFields), path, secret, (field, keys, value) => {
      const wrap = (inner: unknown) =>
        keys.reduce<unknown>((around, key) => [{ [key]: around, label: 'web-1' }], inner);
      expect(redact(wrap({ [field]: value, plan_id: 7 }))).toEqual(wrap({ [field]: redactedMark, plan_id: 7 }));
    }),
  );
});

it('leaves the name of a secret, but not what stands beside it', () => {
  expect(redact({ password: { secret: 'web-root' } })).toEqual({ password: { secret: 'web-root' } });
  expect(redact({ password: { secret: 'web-root', value: 'canary' } })).toEqual({ password: redactedMark });
});
