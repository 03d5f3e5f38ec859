/** What docs/journal.md promises, of a file and of PostgreSQL alike. */
import { answers } from './contract/answers';
import { byHand } from './contract/by-hand';
import { cartItems } from './contract/cart-items';
import { constraints } from './contract/constraints';
import { corrections } from './contract/corrections';
import { decisions } from './contract/decisions';
import { firewalls } from './contract/firewalls';
import { leftBehind } from './contract/left-behind';
import { lostRows } from './contract/lost-rows';
import { openOnes } from './contract/open-references';
import { pivots } from './contract/pivots';
import { purchases } from './contract/purchases';
import { restoredJournal } from './contract/restored';
import { references } from './contract/references';
import { standing } from './contract/standing';
import { repeatableSteps } from './contract/repeatable-steps';
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
