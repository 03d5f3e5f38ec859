/** What a person reads on the command line, word for word where a word too many or too few would mislead. */
import { Printer } from '../../../src/cli/print';
import { decisionNames, type DecisionName } from '../../../src/domain/decisions';
import type { Leftover } from '../../../src/domain/leftovers';
import type { ProgressView, Waiting } from '../../../src/domain/progress';
import type { Report } from '../../../src/domain/results';

const at = '2026-01-01T12:00:00.000Z';

function printed(print: (printer: Printer) => void): string {
  let out = '';
  const stream = { write: (text: string) => (out += text) };
  print(new Printer({ out: stream, err: stream }, false));
  return out;
}

const progressOf = (waiting?: Waiting): ProgressView => ({
  ...{ reference: 'R', workflow: 'provisionServers', state: waiting?.kind ?? 'running', steps: [] },
  ...(waiting ? { waiting } : {}),
  ...{ leftovers: [], ignored: [], decisions: [] },
});
const waitingFor = (
  id: string,
  choices: DecisionName[] = ['confirmPlaced', 'confirmNotPlaced', 'markCancelled'],
): Waiting => ({
  ...{ id, kind: 'outcome-unknown', step: 'place-order', question: 'Is it there?', choices, since: at },
});

it('a saga that is settling says until when', () => {
  const settling = { ...progressOf(), state: 'settling', settling: { step: 'place-order', until: at } } as const;
  expect(printed((printer) => [1, 2].forEach(() => printer.progress(settling, 'provision/R')))).toBe(
    `settling: place-order may still take effect until ${at}; nobody is asked before\n`,
  );
});

describe('leftovers', () => {
  const told = (leftover: Leftover) =>
    printed((printer) => {
      const report = {
        outcome: 'reversed-with-leftovers',
        why: 'cancelled',
        known: {},
        leftovers: [leftover],
      } as unknown as Report;
      printer.ending({ state: 'cancelled', report }, 'provision/R');
    });

  it.each<[Leftover, string]>([
    [{ kind: 'cart-item', cartItemId: 17, why: 'w' }, 'cart item 17: w'],
    [{ kind: 'cart-item-unknown', item: 2, why: 'w' }, 'perhaps a cart item of unknown id (item 2 of the request): w'],
    [{ kind: 'cart-item-unknown', why: 'w' }, 'perhaps a cart item of unknown id: w'],
    [{ kind: 'firewalls', vmObjectId: 9001, firewalls: [143, 144], why: 'w' }, 'firewalls 143, 144 of server 9001: w'],
    [
      { kind: 'server-unprotected', vmObjectId: 9001, firewalls: [143], why: 'w' },
      'server 9001 without firewalls 143: w',
    ],
    [
      { kind: 'server-unprotected', firewalls: [143], why: 'w' },
      'the servers, whose ids are not known, without firewalls 143: w',
    ],
    [{ kind: 'placement-unknown', step: 'place-order', why: 'w' }, 'nobody knows whether place-order took effect: w'],
  ])('%j', (leftover, line) => {
    expect(told(leftover)).toBe(
      `provision/R was cancelled\n  reversed-with-leftovers: something of it is there, or may be\n  left over: ${line}\n`,
    );
  });
});

describe('a wait', () => {
  it('names its question, and has it in every command to paste', () => {
    const out = printed((printer) => {
      printer.progress(progressOf(waitingFor('1a2b3c4d', decisionNames)), 'provision/R');
    });
    expect(out).toContain('at place-order since 2026-01-01T12:00:00.000Z, question 1a2b3c4d:\n  Is it there?\n');
    for (const name of decisionNames) {
      const [, json] = new RegExp(`order-saga decide provision/R ${name} '(.*)'   # `).exec(out) ?? [];
      expect(JSON.parse(json!)).toMatchObject({ question: '1a2b3c4d', by: 'you' });
    }
  });

  it('is told once, and the next one of the same step again', () => {
    const out = printed((printer) => {
      for (const id of ['1a2b3c4d', '1a2b3c4d', '5e6f7a8b'])
        printer.progress(progressOf(waitingFor(id)), 'provision/R');
    });
    expect(out.match(/question [0-9a-f]{8}:/g)).toEqual(['question 1a2b3c4d:', 'question 5e6f7a8b:']);
  });
});
