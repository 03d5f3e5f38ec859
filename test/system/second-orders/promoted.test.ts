/** The journal's PostgreSQL fails over to a standby that lacks nothing (`JOURNAL_FAILOVER=lossless`). */
import { activitySettings } from '../../support/activity-settings';
import { describeWithPostgres } from '../../support/left-out';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';

/** Longer than it takes. */
const patient = { attemptsMax: 50, backoffMs: 100, backoffMaxMs: 1_000, totalMs: 240_000 };

describeWithPostgres('a synchronous standby is promoted', () => {
  const { retries } = activitySettings(patient);
  const rig = rigForFile({ onPostgres: true, failover: 'lossless', activities: { retries } });

  it('fifty sagas that are under way end, each ordered once, and nobody is asked', async () => {
    const requests = Array.from({ length: 50 }, () => provisionRequest({ firewalls: [143] }));
    const sagas = await Promise.all(requests.map((request) => rig.sagas.provision(request)));
    const placed = () => requests.filter((request) => rig.ordersOf(request).length > 0).length;
    await until(() => Promise.resolve(placed() >= 5));
    await rig.postgres?.promote();
    const placedBefore = placed();
    for (const saga of sagas)
      expect(await saga.result()).toMatchObject({ outcome: 'done', decisions: [], leftovers: [] });
    expect(placedBefore).toBeLessThan(50);
    for (const request of requests) expect(rig.ordersOf(request)).toHaveLength(1);
  });
});
