/** A preview in short, as each choice in the Web UI has it. */
import type { NextStep, Preview } from '../../../src/domain/preview';
import { inShort } from '../../../src/domain/preview-words';

const step = (title: string, changes: Partial<NextStep> = {}): NextStep => ({
  step: title,
  title,
  calls: [],
  ...changes,
});
const preview = (next: NextStep[], changes: Partial<Preview> = {}): Preview => ({
  ...{ decision: 'retry', does: '', next, spends: 'nothing more', notes: ['A note.'] },
  ...changes,
});

it('never leaves out what cannot be undone, however many steps come first', () => {
  const items = Array.from({ length: 50 }, (_, index) => step(`Add cart item ${index + 1}`));
  const order = step('Place the order', { irreversible: true, calls: [{ call: 'POST /order', changes: true }] });
  expect(inShort(preview([...items, order, step('Look')]))).toBe(
    'Then: Add cart item 1; Add cart item 2; Place the order (cannot be undone); 49 more. It sends POST /order.',
  );
});

it('tells what is sure, and no call that only looks', () => {
  const look = { call: 'GET /look', changes: false };
  const perhaps = step('Delete', { when: 'where there is any', calls: [{ call: 'DELETE /item', changes: true }] });
  const when = 'where the list shows it';
  const undo = step('Undo', { undoes: true, calls: [look, { call: 'POST /undo', changes: true, when }] });
  expect(inShort(preview([undo, perhaps]))).toBe('Then: Undo.');
  expect(inShort(preview([perhaps]))).toBe('Then: no call that is sure.');
  expect(inShort(preview([]))).toBe('Then: no call.');
});

it('warns where the decision itself says something, or ends the saga', () => {
  expect(inShort(preview([], { decision: 'confirmNotPlaced' }))).toBe('Then: no call. A note.');
  expect(inShort(preview([], { decision: 'cancel' }))).toBe('Then: no call. A note.');
  expect(inShort(preview([], { decision: 'approve' }))).toBe('Then: no call.');
});
