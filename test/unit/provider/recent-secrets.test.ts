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

test('one that is sent again counts once, and is the newest', () => {
  const secrets = Array.from({ length: 8 }, (_, index) => String(index).repeat(4_096));
  const recent = new RecentSecrets();
  recent.add(secrets);
  recent.add([secrets[0]!]);
  expect(recent.all()).toEqual([...secrets.slice(1), secrets[0]]);
  recent.add(['abcdef']);
  expect(recent.all()).toEqual([...secrets.slice(2), secrets[0], 'abcdef']);
});
