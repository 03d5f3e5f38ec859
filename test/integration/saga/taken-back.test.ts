/** What an order relies on is taken back again and again: it is done again, but not without end and without a word. */
import { sql } from 'kysely';
import { callsTo } from '../../../sandbox/sentences';
import type { EndpointName } from '../../../sandbox/endpoints';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  // The journal says what is not so: the items are in the cart.
  rig = await Rig.start({ compares: false });
});
afterAll(() => rig.close());

it('a person is asked after the third time, and the saga goes on once it stands', async () => {
  await rig.withJournal(({ db }) =>
    sql`
      create trigger somebody_cleans after update of outcome on effect
      when new.kind = 'mutate' and new.outcome = 'done'
      begin update effect set outcome = 'undone', undone_by = new.id where id = new.id; end
    `.execute(db),
  );
  const request = provisionRequest();
  const saga = await rig.sagas.provision(request);
  const { step, question, choices } = await untilWaiting(saga);
  expect({ step, choices }).toEqual({ step: 'place-order', choices: ['retry'] });
  expect(question).toMatch(/^Stuck: /);
  expect(callsOf('add-cart-item')).toBe(3);
  expect(callsOf('place-order')).toBe(0);
  await rig.withJournal(({ db }) => sql`drop trigger somebody_cleans`.execute(db));
  await answer(saga, 'retry');
  expect(await saga.result()).toMatchObject({ leftovers: [] });
  expect(callsOf('add-cart-item')).toBe(4);
  expect(callsOf('place-order')).toBe(1);
});

const callsOf = (endpoint: EndpointName) => callsTo(rig.sandbox.ledger, endpoint).length;
