/** What a person is asked, word for word: by the question alone they decide about somebody's order. */
import { z } from 'zod';
import { callFailureNames, type CallFailure, type CallFailureName } from '../../../src/domain/failures';
import type { Correction } from '../../../src/saga/questions';
import { describeWait } from '../../../src/saga/current-details';
import type { Step } from '../../../src/saga/progress';
import { cause, stuckQuestion } from '../../../src/saga/questions';

const failed = (failure: CallFailureName, changes: Partial<CallFailure> = {}): CallFailure => ({
  failure,
  message: 'it said no',
  ...changes,
});
const stuckAt = (id: string, failure: CallFailure, title?: string) => ({
  spec: { step: { id, title: `Title of ${id}` } as Step, ...(title === undefined ? {} : { title }) },
  failure,
});
const forward = { undoing: false, skippable: false, correction: undefined };

describe('the question at a step that is stuck', () => {
  it.each([
    ['NotSent', 'The provider could not be reached, again and again; nothing was sent. Retry'],
    ['RateLimited', 'The provider keeps asking us to slow down. Retry'],
    ['Unauthorized', 'The provider refuses our credentials: they must be fixed first. Then retry'],
    ['Rejected', 'The provider refuses it: it said no. Retry'],
    ['UnknownOutcome', 'The provider did not answer, again and again. Retry'],
    ['NotYet', 'The provider does not take it yet: it said no. Retry'],
    ['UnexpectedResponse', 'The answer did not come from the provider’s service: is its base URL right? Then retry'],
    ['NotVisibleYet', 'The provider’s own list does not show it: it said no. Retry'],
    ['SecretMissing', 'Our own secret cannot be read: it said no. Retry'],
    ['StoodStill', 'Our own worker stood still before it could send, again and again: it said no. Retry'],
    ['WorkerLost', 'Our own workers were lost in the middle of it, again and again. Retry'],
    ['TemporalUnavailable', 'Temporal fails, not the provider: it said no. Retry'],
    ['JournalUnavailable', 'Our own journal fails, not the provider: it said no. Nothing is sent without it. Retry'],
    ['JournalUnreadable', 'Our own journal fails, not the provider: it said no. Then retry'],
    [
      'JournalPutBack',
      'Our own journal is not what it was: it said no. Have docs/journal.md followed first (`order-saga journal restored`). Then retry',
    ],
  ] as const)('%s', (name, told) => {
    const failure = failed(name);
    expect(stuckQuestion([stuckAt('a', failure)], forward)).toEqual({
      kind: 'stuck',
      step: 'a',
      question: `Stuck: “Title of a” did not succeed. ${told}, or request cancellation.`,
      choices: ['retry'],
      lastFailure: failure,
    });
  });

  it('has a cause for every failure that there is', () => {
    for (const name of callFailureNames) expect(cause(failed(name))).toMatch(/^[A-Za-z].*[^.][.?)]$/);
  });

  it('says what skipping means, and offers it', () => {
    const stuck = [stuckAt('a', failed('Rejected'))];
    const skippable = stuckQuestion(stuck, { ...forward, skippable: true });
    expect(skippable.question).toMatch(/ Retry, or skip it and go on without\.$/);
    expect(skippable.choices).toEqual(['retry', 'skip']);
    const undoing = stuckQuestion(stuck, { ...forward, undoing: true, skippable: true });
    expect(undoing).toMatchObject({ choices: ['retry', 'skip'] });
    expect(undoing.question).toBe(
      'Undoing: “Title of a” did not succeed. The provider refuses it: it said no. ' +
        'Retry, or skip it: what is left behind will be listed in the outcome.',
    );
  });

  it('offers to mark it as done where every step can be done by hand, and says so', () => {
    const byHand = { counts: () => undefined };
    const at = (id: string, manual: object = { byHand }) => {
      const { spec, failure } = stuckAt(id, failed('Rejected'));
      return { spec: { ...spec, ...manual }, failure };
    };
    const marked = stuckQuestion([at('a')], { ...forward, skippable: true });
    expect(marked.question).toMatch(
      / Retry, or mark it as done once you have done it by hand, or skip it and go on without\.$/,
    );
    expect(marked.choices).toEqual(['retry', 'markDone', 'skip']);
    expect(stuckQuestion([at('a')], forward).question).toMatch(/ by hand, or request cancellation\.$/);
    expect(stuckQuestion([at('a')], { ...forward, undoing: true, skippable: true }).question).toMatch(
      / by hand, or skip it: what is left behind will be listed in the outcome\.$/,
    );
    expect(stuckQuestion([at('a'), at('b', {})], forward).choices).toEqual(['retry']);
  });

  it('wants to be told which steps were done by hand where more than one waits', () => {
    const byHand = { counts: () => undefined };
    const at = (...ids: string[]) =>
      stuckQuestion(
        ids.map((id) => {
          const { spec, failure } = stuckAt(id, failed('Rejected'));
          return { spec: { ...spec, byHand }, failure };
        }),
        forward,
      );
    const word = { decision: 'markDone', question: 'q', note: 'n' } as const;
    expect(at('a').steps).toBeUndefined();
    expect(at('a').objection?.(word)).toBeUndefined();
    expect(at('a').objection?.({ ...word, steps: ['a'] })).toBeUndefined();
    expect(at('a').objection?.({ ...word, steps: ['b'] })).toBe('steps: b does not wait; those that wait are a');
    expect(at('a', 'b').steps).toEqual(['a', 'b']);
    expect(at('a', 'b').objection?.(word)).toBe(
      'steps: is required: name the steps that you have done; those that wait are a, b',
    );
    expect(at('a', 'b').objection?.({ ...word, steps: ['b'] })).toBeUndefined();
    expect(at('a', 'b').objection?.({ decision: 'retry', question: 'q' })).toBeUndefined();
    const many = at(...Array.from({ length: 21 }, (_, index) => `s${index}`)).objection?.(word);
    expect(many).toMatch(/ s19, …$/);
  });

  it('names three steps and counts the rest, by the undo’s own title where it has one', () => {
    const at = (steps: number) =>
      stuckQuestion(
        Array.from({ length: steps }, (_, index) =>
          stuckAt(String(index), failed('NotSent'), index === 1 ? 'Delete it' : undefined),
        ),
        forward,
      ).question;
    expect(at(3)).toMatch(/^Stuck: “Title of 0, Delete it, Title of 2” did/);
    expect(at(4)).toMatch(/^Stuck: “Title of 0, Delete it, Title of 2 and 1 more” did/);
    expect(at(9)).toMatch(/“Title of 0, Delete it, Title of 2 and 6 more”/);
  });

  it('is none where nothing is stuck', () => {
    expect(() => stuckQuestion([], forward)).toThrow('nothing is stuck');
  });
});

describe('the notice in the Web UI', () => {
  const since = '2026-01-02T03:04:05.678Z';
  const correction: Correction = {
    schema: () => z.strictObject({ item: z.int(), password: z.string(), os_template_id: z.int() }),
    apply: () => undefined,
  };
  const ofNumbers: Correction = {
    ...correction,
    schema: () => z.strictObject({ firewalls: z.array(z.int()), os_template_id: z.int() }),
  };
  const question = { kind: 'stuck', step: 'place-order', question: 'Is it there?', choices: ['retry'] } as const;
  const undoes = 'It puts back 2 of its steps.';
  const notice = (changes: object = {}) =>
    describeWait({ ...question, id: '1a2b3c4d', choices: ['retry'], heedsCancel: true, ...changes }, since, undoes);

  it('puts the question first, then what to paste, then the rest', () => {
    const lastFailure = failed('UnknownOutcome', { message: 'no  answer\n in time', body: 'a `quoted`\nword' });
    expect(notice({ lastFailure, correction }).split('\n\n')).toEqual([
      '### Is it there?',
      'Press **More Actions**, then **Send an Update**, choose the name and paste the data:',
      '- **retry** — Try the waiting step again.  \n  `{"question":"1a2b3c4d","by":"you"}`',
      'A *retry* may correct the request first (`item`, `password`, `os_template_id`), like this: ' +
        '`{"question":"1a2b3c4d","by":"you","correction":{"item":1,"password":{"secret":"its name"}}}`. ' +
        'Send a secret with `order-saga decide`, which encrypts it, or by its name: {"secret":"its name"}.',
      'Or press **Request Cancellation** to stop. It puts back 2 of its steps.',
      'It waits as *stuck* at step `place-order` since 2026-01-02 03:04:05 UTC. This is question `1a2b3c4d`.',
      'Last failure: no answer in time (UnknownOutcome).',
      "The provider said: `a 'quoted' word`",
      '\u00a0',
    ]);
  });

  it('names the first steps that wait together where somebody may have done them by hand', () => {
    expect(notice({ choices: ['retry', 'markDone'], steps: ['a', 'b', 'c', 'd'] })).toContain(
      '`{"question":"1a2b3c4d","by":"you"}`\n- **markDone** — You have done it by hand: go on as if the call had succeeded. ' +
        'Your word is written into the journal: no later run makes the call.  \n' +
        '  `{"question":"1a2b3c4d","by":"you","note":"where you did it, and what you saw","steps":["a","b","c"]}`',
    );
  });

  it('says of an end without success what it puts back, unless nobody knows whether it was placed', () => {
    expect(notice({ choices: ['approve', 'reject'] })).toMatch(
      /- \*\*reject\*\* — [^\n]* It puts back 2 of its steps\./,
    );
    const unknown = notice({ kind: 'outcome-unknown', choices: ['confirmNotPlaced'] });
    expect(unknown).not.toContain(undoes);
    expect(unknown).toContain('to stop. All stays as it is, and the report says');
    expect(unknown).toContain('it is there twice then, and both cost money');
  });

  it('leaves out what there is nothing to say of', () => {
    expect(notice().split('\n\n')).toHaveLength(6);
    expect(notice({ heedsCancel: false })).not.toContain('Request Cancellation');
    expect(notice({ lastFailure: failed('NotSent') })).not.toContain('The provider said');
    expect(notice({ correction: ofNumbers })).toContain(
      '{"question":"1a2b3c4d","by":"you","correction":{"firewalls":[143],"os_template_id":3}}',
    );
    expect(notice({ choices: ['approve', 'reject'] })).toContain('`{"question":"1a2b3c4d","by":"you"}`\n- **reject**');
  });

  it('cuts what is long, the question later than an answer', () => {
    const heading = (chars: number) => notice({ question: 'q'.repeat(chars) }).split('\n')[0];
    expect(heading(600)).toBe(`### ${'q'.repeat(600)}`);
    expect(heading(601)).toBe(`### ${'q'.repeat(599)}…`);
    expect(heading(5_000)).toHaveLength(604);
    const long = notice({ lastFailure: failed('Rejected', { message: 'm'.repeat(301), body: 'b'.repeat(300) }) });
    expect(long).toContain(`Last failure: ${'m'.repeat(299)}… (Rejected).`);
    expect(long).toContain(`The provider said: \`${'b'.repeat(300)}\``);
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
      expect(text).toMatch(/€\n\n\u00a0$/);
    }
  });
});
