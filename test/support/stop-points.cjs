/**
 * Loaded into a worker before everything else (`--require`): the process stops itself, as by SIGSTOP, at one point of
 * the first call that is a pivot. STOP_AT names the point:
 *
 *   before-mean     the task was received; nothing is written down
 *   after-mean      it is written down; nothing is sent
 *   before-answered the provider has answered; the answer is not written down
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

Module._load = function (request, ...rest) {
  const loaded = load.call(this, request, ...rest);
  const journal = loaded?.Journal?.prototype;
  if (journal?.mean === undefined || journal.mean.watched) return loaded;
  const { mean, answered } = journal;
  journal.mean = async function (meaning) {
    const isPivot = meaning.call.kind === 'pivot';
    if (isPivot && at === 'before-mean') stop();
    const meant = await mean.call(this, meaning);
    if (isPivot && at === 'after-mean') stop();
    return meant;
  };
  journal.answered = async function (key, meant, answer) {
    if (meant.call.kind === 'pivot' && at === 'before-answered') stop();
    return answered.call(this, key, meant, answer);
  };
  journal.mean.watched = true;
  return loaded;
};
