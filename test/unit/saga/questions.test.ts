/** The questions, word for word: by the question alone a person decides about somebody's order. */
import { z } from 'zod';
import type { CallFailure, CallFailureName } from '../../../src/domain/failures';
import type { Correction } from '../../../src/saga/people/questions';
import { describeWait } from '../../../src/saga/shown/current-details';

const failed = (failure: CallFailureName, changes: Partial<CallFailure> = {}): CallFailure => ({
  failure,
  message: 'it said no',
  ...changes,
});
describe('the notice in the Web UI', () => {
  const since = '2026-01-02T03:04:05.678Z';
  const correction: Correction = {
    schema: () => z.strictObject({ item: z.int(), password: z.string(), os_template_id: z.int() }),
    apply: () => undefined,
  };
  const workflow = 'provisionServers';
  const question = {
    workflow,
    kind: 'stuck',
    step: 'place-order',
    question: 'Is it there?',
    choices: ['retry'],
  } as const;
  const undoing = 'It undoes 2 of its steps.';
  const notice = (changes: object = {}) =>
    describeWait({ ...question, id: '1a2b3c4d', choices: ['retry'], cancellable: true, ...changes }, since, undoing);

  it('puts the question first in one sentence, then the reason, then what to paste, then the rest', () => {
    const lastFailure = failed('UnknownOutcome', { message: 'no  answer\n in time', body: 'a `quoted`\nword' });
    const asked = 'Is it there? Look in the panel of AB-1.5: it is slow.';
    expect(notice({ question: asked, lastFailure, correction }).split('\n\n')).toEqual([
      '### Is it there?',
      'Look in the panel of AB-1.5: it is slow.',
      '- **retry** — tries the waiting steps again, with a fresh budget of automatic retries.  \n  `{"question":"1a2b3c4d","by":"you"}`',
      'To decide, press **More Actions**, then **Send an Update**, choose the name and paste the data.',
      'A *retry* may correct the request first (`item`, `password`, `os_template_id`), like this: ' +
        '`{"question":"1a2b3c4d","by":"you","correction":{"item":1,"password":{"secret":"its name"}}}`. ' +
        'Send a secret with `order-saga decide`, which encrypts it, or by its name: {"secret":"its name"}.',
      'Or press **Request Cancellation** to stop. It undoes 2 of its steps.',
      'It waits as *stuck* at step `place-order` since 2026-01-02 03:04:05 UTC. This is question `1a2b3c4d`.',
      'Last failure: no answer in time (UnknownOutcome).',
      "The provider said: `a 'quoted' word`",
      '\u00a0',
    ]);
  });

  it('says what each choice does in this saga, and nothing of other sagas', () => {
    const unknown = { kind: 'outcome-unknown', choices: ['confirmNotPlaced'] };
    expect(notice(unknown)).toMatch(/— sends it again: /);
    expect(notice({ ...unknown, workflow: 'switchPlan' })).toMatch(/— quotes it anew, and sends it again: /);
    expect(notice({ ...unknown, workflow: 'cleanCart' })).toMatch(/— sends nothing: deletes the cart items/);
    const confirming = { ...unknown, choices: ['confirmPlaced'] };
    expect(notice(confirming)).toContain('vmObjectIds');
    expect(notice({ ...confirming, workflow: 'changeOrder' })).not.toContain('vmObjectIds');
  });

  it('has what to paste, however long the reason is', () => {
    const choices = ['retry', 'markDone', 'skip', 'markCancelled'];
    const text = notice({ question: `It did not succeed. The provider says: ${'配额已超出'.repeat(120)}.`, choices });
    expect(text).toMatch(/### It did not succeed\.\n\nThe provider says: 配额已超出.*…\n\n- \*\*retry/);
    for (const choice of choices) expect(text).toMatch(new RegExp(`\\*\\*${choice}\\*\\* — .*\\n  \`\\{.*\\}\``));
    expect(text).toContain('**Send an Update**');
  });

  it('stays within its bytes, and cuts no character in two', () => {
    const bytesOf = (text: string) => new TextEncoder().encode(text).length;
    for (let chars = 590; chars < 600; chars += 1) {
      const text = notice({
        question: 'é'.repeat(chars),
        lastFailure: failed('Rejected', { message: '€'.repeat(300), body: '€'.repeat(300) }),
      });
      expect(bytesOf(text)).toBeLessThanOrEqual(1_900 + bytesOf('\n\n\u00a0'));
      expect(bytesOf(text)).toBeGreaterThan(1_897);
      expect(text).not.toContain('\ufffd');
      expect(text).toMatch(/€…\n\n\u00a0$/);
    }
  });
});
