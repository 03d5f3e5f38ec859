/**
 * A namespace is failed over to a second cluster, which lags: what the first one did last is not there. The first one
 * is lost meanwhile, and comes back.
 */
import { Client, Connection } from '@temporalio/client';
import { OrderSagaClient } from '../../../../src/client/client';
import { grpcCodeOf, grpcCodes } from '../../../../src/temporal/service';
import { until } from '../../../support/rig';
import type { Disaster, Scene } from './scene';
import { there, type Standby } from './ground';

export const failover: Disaster = {
  name: 'failover-lagging',
  title: 'The namespace is failed over to a second cluster that lags, and the first one comes back',
  ground: { standby: true },
  strike: async (scene) => {
    const { ground, cast } = scene;
    const { standby, stack } = ground;
    if (standby === undefined) throw new Error('there is no second cluster');
    scene.phase('the second cluster catches up');
    const here = new OrderSagaClient(ground.temporal);
    await until(() => isKnown(standby, cast.member('waits for an approval').saga.workflowId));
    await caughtUp(scene, standby);
    scene.phase('it lags: sagas go on, some come, some end');
    standby.link.cut();
    await cast.liveOn();
    scene.phase('the first cluster is lost, and the namespace fails over');
    await stack.server.kill();
    await ground.dismiss();
    cast.letGo();
    const update = ['operator', 'namespace', 'update', '-n', standby.namespace, '--active-cluster', there.name];
    scene.note(`temporal ${update.join(' ')}`);
    await standby.temporal([...update, '--address', standby.stack.address]);
    const lost = cast.members.at(-1);
    const wasUnknown = lost !== undefined && !(await isKnown(standby, lost.saga.workflowId));
    const connection = await Connection.connect({ address: standby.stack.address });
    ground.temporal = new Client({ connection, namespace: standby.namespace });
    ground.sagas = cast.sagas = new OrderSagaClient(ground.temporal);
    // The second cluster takes requests a moment after it was told to; until then it refuses them, and a backend sends
    // again.
    await until(async () => {
      try {
        await cast.sendAgain();
        return true;
      } catch (error) {
        if (grpcCodeOf(error) !== grpcCodes.failedPrecondition) throw error;
        return false;
      }
    });
    await ground.hire({ TEMPORAL_ADDRESS: standby.stack.address });
    let isBack = false;
    return {
      facts: { 'the second cluster did not know what came last': wasUnknown },
      finish: async () => {
        scene.phase('the first cluster comes back');
        await stack.server.restart();
        standby.link.repair();
        await until(async () => (await activeAt(standby, stack.address)) === there.name);
        // It gets the ends of those that it had left open.
        for (const { saga } of cast.members) {
          const [known] = await here.find(saga.reference);
          await known?.result().catch(() => undefined);
        }
        isBack = true;
      },
      later: () => ({ 'the first cluster, back again, is the standby and has all ends': isBack }),
    };
  },
};

async function isKnown({ stack, namespace, temporal }: Standby, workflowId: string): Promise<boolean> {
  const at = ['--address', stack.address, '-n', namespace];
  return temporal(['workflow', 'describe', ...at, '-w', workflowId]).then(
    () => true,
    () => false,
  );
}

/** Each of the cast has as many events there as here. */
async function caughtUp({ ground, cast }: Scene, { stack, namespace, temporal }: Standby): Promise<void> {
  const length = async (address: string, workflowId: string) => {
    const at = ['--address', address, '-n', namespace, '-o', 'json'];
    const described = await temporal(['workflow', 'describe', ...at, '-w', workflowId]).catch(() => '{}');
    const { workflowExecutionInfo: info } = JSON.parse(described) as {
      workflowExecutionInfo?: { historyLength: string };
    };
    return info?.historyLength;
  };
  for (const { saga } of cast.members) {
    await until(async () => {
      const first = await length(ground.stack.address, saga.workflowId);
      return first !== undefined && first === (await length(stack.address, saga.workflowId));
    });
  }
}

async function activeAt({ namespace, temporal }: Standby, address: string): Promise<string | undefined> {
  const at = ['--address', address, '-n', namespace, '-o', 'json'];
  const described = await temporal(['operator', 'namespace', 'describe', ...at]);
  const { replicationConfig } = JSON.parse(described) as { replicationConfig?: { activeClusterName?: string } };
  return replicationConfig?.activeClusterName;
}
