/** A worker that cannot start says why in one sentence, and what to do; what is in its way later does not stop it. */
import { startProcess } from '../../../scripts/processes';
import { whyTooOld, whyUnsafe } from '../../../src/domain/server-version';
import { programOf } from '../../support/programs';
import { rigForFile } from '../../support/rig';

const rig = rigForFile({ worker: false });

it('in a namespace that does not exist', async () => {
  const started = startProcess(programOf('worker'), { ...rig.environment, TEMPORAL_NAMESPACE: 'nowhere' });
  const sentence =
    'worker cannot start: the Temporal server at [^ ]+ has no namespace nowhere: set TEMPORAL_NAMESPACE to one that it has, ' +
    'or create it with `temporal operator namespace create --namespace nowhere --retention 30d`';
  await expect(started).rejects.toThrow(new RegExp(`ended with 1 .*\\n(\\{.*\\n)?${sentence}\\n$`));
});

it.each([
  ['1.24.3', false],
  ['1.9.0', false],
  ['0.30.1', false],
  ['1.25.0', true],
  ['1.29.1', true],
  ['2.0.0', true],
  ['', true],
])('of a Temporal server of version "%s": fit is %s', (version, fit) => {
  const why = whyTooOld(version);
  expect(why === undefined).toBe(fit);
  if (!fit) expect(why).toBe(`the Temporal server has version ${version}; sagas need 1.25 or later: upgrade it`);
});

it.each([
  ['1.29.1', true],
  ['1.30.6', true],
  ['1.30.7', false],
  ['1.31.2', true],
  ['1.31.10', false],
  ['1.32.0', false],
  ['1.33.0-rc.1', false],
  ['2.0.0', false],
  ['', false],
])('of a Temporal server of version "%s": has known holes is %s', (version, has) => {
  expect(whyUnsafe(version)?.includes('fixed in 1.30.7, 1.31.3, 1.32.0') ?? false).toBe(has);
});
