/** A certificate expires, in front of the provider or of Temporal, while sagas work; it is renewed later. */
import { untilWaiting } from '../../../support/sagas';
import type { Fronts } from './ground';
import type { Disaster, Scene } from './scene';

const expiredWords = /CERT_HAS_EXPIRED|expired/i;

export const certificates: Disaster[] = [
  {
    name: 'certificate-provider',
    title: 'The provider’s certificate expires, and is renewed',
    ground: { tls: true },
    strike: async (scene) => {
      const { provider, good, expired } = frontsOf(scene);
      scene.phase('the certificate has expired');
      provider.show(expired());
      scene.cast.letGo();
      const { lastFailure } = await scene.cast.getStuck(scene.cast.member('waits for an approval'));
      const calls = () => scene.ground.sandbox.ledger.calls.length;
      const before = calls();
      await untilWaiting((await scene.cast.sendNew('came while the certificate was expired')).saga, 'stuck');
      const nothingSent = calls() === before;
      await scene.listen();
      scene.phase('the certificate is renewed');
      provider.show(good());
      return {
        facts: {
          [`the failure says why: ${lastFailure?.failure}: ${lastFailure?.message}`]: expiredWords.test(
            lastFailure?.message ?? '',
          ),
          'nothing was sent to whoever showed it': nothingSent,
        },
      };
    },
  },
  {
    name: 'certificate-temporal',
    title:
      'The certificate of Temporal’s server expires, and is renewed; the workers stay, and one is started meanwhile',
    ground: { tls: true },
    strike: async (scene) => {
      const { temporal, good, expired } = frontsOf(scene);
      scene.phase('the certificate has expired');
      temporal.show(expired());
      scene.cast.letGo();
      const { err } = await scene.person.type(['inbox'], [3]);
      const came = await scene.cast.sendNew('came while the certificate was expired');
      const { ended, words } = await scene.ground.tryWorker();
      scene.phase('the certificate is renewed');
      temporal.show(good());
      await came.saga.result();
      return {
        facts: {
          [`the command line says why: ${err.trim()}`]: err.includes('certificates'),
          [`a worker that starts meanwhile ends, and says why: ${words}`]: ended && /expired/i.test(words),
          'sagas went on with the same workers, and nobody was asked': true,
        },
      };
    },
  },
];

function frontsOf({ ground: { fronts } }: Scene): Fronts {
  if (fronts === undefined) throw new Error('there is no TLS');
  return fronts;
}
