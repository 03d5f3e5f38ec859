/** Down and up again: what was is in the volumes. */
import assert from 'node:assert/strict';
import { orders } from '../../../sandbox/sentences';
import { finish, ledgerOf, reached, request, sandboxOf, settle, startSaga } from '../sagas';
import type { Context } from '../checks';
import type { Project } from '../project';

export async function again({ checks, project }: Context): Promise<void> {
  const [ended, waits] = [request('PO-AGAIN-ENDED'), request('PO-AGAIN-WAITS')];

  await checks.check(
    'everything goes down with one saga ended and one stuck, and comes up again from its volumes',
    async () => {
      await sandboxOf(project).clearFaults();
      await startSaga(project, ended);
      await finish(project, ended.reference);
      // Before anything of it is at the provider: the sandbox forgets all when it goes.
      await sandboxOf(project).addFault({ endpoint: 'add-cart-item', kind: 'unauthorized', times: 'all' });
      await startSaga(project, waits);
      assert.equal((await settle(project, waits.reference)).waiting?.kind, 'stuck');
      await project.compose(['--profile', 'sandbox', 'down', '--timeout', '60']);
      assert.deepEqual(await project.containers(), []);
      await project.up();
    },
  );

  await checks.check('the ended saga is still known, to Temporal and to the journal', async () => {
    for (const words of [
      ['status', ended.reference],
      ['record', ended.reference, '--timeline'],
    ]) {
      const { status, all } = await reached(project, words);
      assert.equal(status, 0, all);
    }
  });

  await checks.check('its reference stays taken: sent again, it orders nothing', async () => {
    const repeated = await reached(project, ['provision', '-'], JSON.stringify(ended));
    assert.equal(repeated.status, 0, repeated.all);
    assert.match(repeated.all, /was started before, with the same request/);
    assert.deepEqual(orders(await ledgerOf(project)), []);
  });

  await checks.check('the stuck saga still waits, and goes on when a person says so', async () => {
    const { waiting } = await settle(project, waits.reference);
    assert.equal(waiting?.kind, 'stuck');
    const words = { question: waiting.id, by: 'Ada', note: 'the token was renewed' };
    await succeeds(project, ['decide', waits.reference, 'retry', JSON.stringify(words)]);
    await finish(project, waits.reference);
    assert.deepEqual(
      orders(await ledgerOf(project)).map(({ account }) => account),
      [waits.account],
    );
  });

  await checks.check(
    'an older copy of all databases is put back, and nobody says so: the worker has seen more, and orders nothing again',
    async () => {
      const lost = request('PO-AGAIN-LOST');
      await whileStopped(project, () => project.copyVolume('postgres', 'older'));
      await startSaga(project, lost);
      await finish(project, lost.reference);
      await whileStopped(project, () => project.copyVolume('older', 'postgres'));
      await startSaga(project, lost);
      const { waiting } = await settle(project, lost.reference);
      assert.equal(waiting?.kind, 'stuck');
      const looked = await project.cli(['journal', 'status']);
      assert.equal(looked.status, 4, looked.all);
      const words = { by: 'Ada', note: 'an older copy of the disk' };
      const said = ['--by', words.by, '--note', words.note];
      const retry = JSON.stringify({ question: waiting.id, ...words });
      await succeeds(project, ['journal', 'restored', ...said]);
      await succeeds(project, ['decide', lost.reference, 'retry', retry]);
      await finish(project, lost.reference);
      await succeeds(project, ['journal', 'trust-new-references', ...said]);
    },
  );
}

/** The sandbox goes on, and knows what was ordered. */
async function whileStopped(project: Project, work: () => Promise<void>): Promise<void> {
  await project.compose(['stop', '--timeout', '60', 'worker', 'codec-server', 'ui', 'temporal', 'postgres']);
  await work();
  await project.up();
}

async function succeeds(project: Project, words: readonly string[]): Promise<void> {
  const { status, all } = await project.cli(words);
  assert.equal(status, 0, all);
}
