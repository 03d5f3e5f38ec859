/** What one call sent is blanked out in the answers to the next ones, as far back as can be searched quickly. */
import { RecentSecrets } from '../../../src/provider/recent-secrets';

const remembered = (...secrets: string[]) => {
  const recent = new RecentSecrets();
  recent.add(secrets);
  return recent.all();
};

test('a secret is remembered from six characters on: shorter ones are words', () => {
  expect(remembered('12345', '123456')).toEqual(['123456']);
});

test('of a long secret its beginning is remembered', () => {
  expect(remembered('x'.repeat(4_096))).toEqual(['x'.repeat(4_096)]);
  expect(remembered(`${'x'.repeat(4_096)}y`)).toEqual(['x'.repeat(4_096)]);
});

test('the oldest are forgotten, as many as make room', () => {
  const secrets = Array.from({ length: 10 }, (_, index) => String(index).repeat(4_096));
  expect(remembered(...secrets.slice(0, 8))).toEqual(secrets.slice(0, 8));
  expect(remembered(...secrets.slice(0, 9))).toEqual(secrets.slice(1, 9));
  expect(remembered(...secrets, 'abcdef')).toEqual([...secrets.slice(3), 'abcdef']);
});

test('one that is sent again counts once, and is the newest', () => {
  const secrets = Array.from({ length: 8 }, (_, index) => String(index).repeat(4_096));
  const recent = new RecentSecrets();
  recent.add(secrets);
  recent.add([secrets[0]!]);
  expect(recent.all()).toEqual([...secrets.slice(1), secrets[0]]);
  recent.add(['abcdef']);
  expect(recent.all()).toEqual([...secrets.slice(2), secrets[0], 'abcdef']);
});
