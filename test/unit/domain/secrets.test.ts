import { fc } from '../../support/properties';
import { redact, redactedMark, secretFields } from '../../../src/domain/secrets';

it('blanks out every secret, however deep, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...secretFields),
      fc.array(fc.constantFrom('items', 'a', '0'), { maxLength: 5 }),
      (field, path) => {
        const wrap = (inner: unknown) =>
          path.reduce<unknown>((value, key) => [{ [key]: value, label: 'web-1' }], inner);
        expect(redact(wrap({ [field]: 'canary', plan_id: 7 }))).toEqual(wrap({ [field]: redactedMark, plan_id: 7 }));
      },
    ),
  );
});

it('blanks out what has the shape of no secret at all, too', () => {
  expect(redact({ password: { nested: 'canary' }, custom_script: ['canary'], custom_ssh_key: 7 })).toEqual({
    password: redactedMark,
    custom_script: redactedMark,
    custom_ssh_key: redactedMark,
  });
});

it('leaves the name of a secret, but not what stands beside it', () => {
  expect(redact({ password: { secret: 'web-root' } })).toEqual({ password: { secret: 'web-root' } });
  expect(redact({ password: { secret: 'web-root', value: 'canary' } })).toEqual({ password: redactedMark });
});
