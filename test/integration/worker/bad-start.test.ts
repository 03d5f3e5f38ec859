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

it('of a Temporal server that is too old, and not of a younger one', () => {
  for (const version of ['1.24.3', '1.9.0', '0.30.1']) {
    expect(whyTooOld(version)).toBe(`the Temporal server has version ${version}; sagas need 1.25 or later: upgrade it`);
  }
  for (const version of ['1.25.0', '1.29.1', '2.0.0', '']) expect(whyTooOld(version)).toBeUndefined();
});

it('of a Temporal server with known holes, and of no other', () => {
  for (const version of ['1.29.1', '1.30.6', '1.31.2']) {
    expect(whyUnsafe(version)).toContain('fixed in 1.30.7, 1.31.3, 1.32.0');
  }
  for (const version of ['1.30.7', '1.31.10', '1.32.0', '1.33.0-rc.1', '2.0.0', '']) {
    expect(whyUnsafe(version)).toBeUndefined();
  }
});
