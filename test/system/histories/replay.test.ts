/**
 * Old runs replay: the recorded histories of every released version, and those in `met`, on which the code once broke, on
 * the code as it is now.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { historyFromJSON, type History } from '@temporalio/common/lib/proto-utils';
import { version } from '../../../package.json';
import { localActivityIn } from '../../support/events';
import { bundleOf } from '../../support/programs';
import { replayAll } from '../../support/replay';
import type { Replayed } from '../../support/replayer';
import { stories } from './sagas';

const versions = readdirSync(__dirname, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const recorded = versions.flatMap((of) => readdirSync(join(__dirname, of)).map((file) => [of, file] as const));
const read = (of: string, file: string) => readFileSync(join(__dirname, of, file), 'utf8');

it('the present version is recorded, each of its stories', () => {
  const files = recorded.flatMap(([of, file]) => (of === version ? [file.replace(/\.json$/, '')] : []));
  expect(files.sort()).toEqual(Object.keys(stories).sort());
});

async function replayed(history: History): Promise<Replayed | undefined> {
  const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? '';
  expect(workflowId).not.toBe('');
  const [result] = await replayAll({ bundle: bundleOf() }, [{ workflowId, history }]);
  return result;
}

const sound = { workflowId: expect.any(String) as string };

it.each(recorded)('%s: %s replays', async (of, file) => {
  const result = await replayed(historyFromJSON(JSON.parse(read(of, file))));
  expect(result).toEqual(sound);
});

it.each(recorded)('%s: %s says nothing of where it was recorded', (of, file) => {
  const text = read(of, file);
  const decoded = [...text.matchAll(/"data":"([^"]*)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString(),
  );
  for (const one of [text, ...decoded]) {
    expect(one).not.toContain(`@${hostname()}`);
    expect(one).not.toContain('node_modules');
  }
});

it('only the begin and the ending of a run are written in place', () => {
  const names = recorded.flatMap(([of, file]) => {
    const { events } = historyFromJSON(JSON.parse(read(of, file)));
    return (events ?? []).flatMap((event) => localActivityIn(event)?.name ?? []);
  });
  expect([...new Set(names)].sort()).toEqual(['takeReference', 'writeEnding']);
});
