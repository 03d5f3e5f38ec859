/** The promises of docs/internals/journal.md, of a file and of PostgreSQL alike. */
import type { WorkflowName } from '../../../src/domain/identity';
import { approvals } from './contract/approvals';
import { cartItems, repeatableSteps } from './contract/cart-items';
import { byHand, firewalls } from './contract/firewalls';
import { leftBehind } from './contract/left-behind';
import { answers, constraints, corrections, decisions, pivots } from './contract/pivots';
import { purchases } from './contract/purchases';
import { openOnes, references, standing } from './contract/references';
import { lostRows, restoredJournal } from './contract/restored';
import { servers } from './contract/servers';
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
    // Any of them may change a server; an order only its own.
    ['what a person has done by hand', byHand, 'setFirewalls'],
    ['how a saga stands', standing],
    ['purchases', purchases],
    ['servers', servers],
    ['approvals', approvals],
    ['turns', turns],
    ['corrections', corrections],
    ['open references', openOnes],
    ['what is left behind', leftBehind],
    ['steps that may be repeated', repeatableSteps],
    ['cart items and the order', cartItems],
    ['firewalls', firewalls, 'setFirewalls'],
  ] as const)('%s', (_, tests, workflow: WorkflowName = 'provisionServers') => {
    sharedJournal(databases, workflow);
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
