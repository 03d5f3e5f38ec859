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

describeEachDatabase('the journal', (databases) => {
  describe('references and endings', () => references(databases));
  describe('pivots', () => pivots(databases));
  describe('the one constraint', () => constraints(databases));
  describe('answers', () => answers(databases));
  describe('decisions of a person', () => decisions(databases));
  describe('what a person has done by hand', () => byHand(databases));
  describe('how a saga stands', () => standing(databases));
  describe('purchases', () => purchases(databases));
  describe('turns', () => turns(databases));
  describe('corrections', () => corrections(databases));
  describe('open references', () => openOnes(databases));
  describe('what is left behind', () => leftBehind(databases));
  describe('steps that may be repeated', () => repeatableSteps(databases));
  describe('cart items and the order', () => cartItems(databases));
  describe('firewalls', () => firewalls(databases));
  describe('rows that the journal lost', () => lostRows(databases));
  describe('a journal that was restored', () => restoredJournal(databases));
});
