/** The promises of docs/journal.md, of a file and of PostgreSQL alike. */
import { cartItems, repeatableSteps } from './contract/cart-items';
import { byHand, firewalls } from './contract/firewalls';
import { leftBehind } from './contract/left-behind';
import { answers, constraints, corrections, decisions, pivots } from './contract/pivots';
import { purchases } from './contract/purchases';
import { openOnes, references, standing } from './contract/references';
import { lostRows, restoredJournal } from './contract/restored';
import { turns } from './contract/turns';
import { describeEachDatabase } from './databases';
import { ownJournal, sharedJournal } from './runs';

describeEachDatabase('the journal', (databases) => {
  describe.each([
    ['references and endings', references],
    ['pivots', pivots],
    ['the one constraint', constraints],
    ['answers', answers],
    ['decisions of a person', decisions],
    ['what a person has done by hand', byHand],
    ['how a saga stands', standing],
    ['purchases', purchases],
    ['turns', turns],
    ['corrections', corrections],
    ['open references', openOnes],
    ['what is left behind', leftBehind],
    ['steps that may be repeated', repeatableSteps],
    ['cart items and the order', cartItems],
    ['firewalls', firewalls],
  ])('%s', (_, tests) => {
    sharedJournal(databases);
    tests(databases);
  });

  describe.each([
    ['rows that the journal lost', lostRows],
    ['a journal that was restored', restoredJournal],
  ])('%s', (_, tests) => {
    ownJournal(databases);
    tests();
  });
});
