/**
 * Loaded into a worker before everything else (`--require`): the process stops itself, as by SIGSTOP, at one point of
 * the first call that is a pivot. STOP_AT names the point:
 *
 *   before-intend     the task was received; nothing is written down
 *   after-intend      it is written down; nothing is sent
 *   before-answered   the provider has answered; the answer is not written down
 *
 * On standard error the worker says of each pivot what the journal has answered, and what was written in the end.
 */
const Module = require('node:module');

const at = process.env.STOP_AT;
const load = Module._load;
let stopped = false;

function stop() {
  if (stopped) return;
  stopped = true;
  process.kill(process.pid, 'SIGSTOP');
}

function say(reference, word) {
  process.stderr.write(`pivot of ${reference}: ${word}\n`);
}

Module._load = function (request, ...rest) {
  const loaded = load.call(this, request, ...rest);
  const journal = loaded?.Journal?.prototype;
  if (journal?.intend === undefined || journal.intend.watched) return loaded;
  const { intend, answered } = journal;
  journal.intend = async function (intent) {
    const isPivot = intent.call.kind === 'pivot';
    if (isPivot && at === 'before-intend') stop();
    const intended = await intend.call(this, intent);
    if (isPivot) say(intent.reference, intended.how);
    if (isPivot && at === 'after-intend') stop();
    return intended;
  };
  journal.answered = async function (key, intended, answer) {
    const isPivot = intended.call.kind === 'pivot';
    if (isPivot && at === 'before-answered') stop();
    const written = await answered.call(this, key, intended, answer);
    if (isPivot) say(key.reference, answer.failure ?? answer.outcome);
    return written;
  };
  journal.intend.watched = true;
  return loaded;
};
