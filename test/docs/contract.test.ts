/** docs/contract.md names every name that others rely on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { exitStatus } from '../../src/cli/exit-status';
import { decisionNames } from '../../src/domain/decisions';
import { sagaFailureNames } from '../../src/domain/failures';
import { holdWorkflow } from '../../src/domain/hold';
import { attributesGivenMemo, defaultTaskQueue, workflowIdOf, workflowNames } from '../../src/domain/identity';
import { leftoverSchema, sagaOutcomes } from '../../src/domain/outcomes';
import { sagaStates, stepStatuses } from '../../src/domain/progress';
import { couldNotLook, findingKinds, reconcileWorkflow, sweepOutcomes } from '../../src/domain/reconcile';
import { turnSignal } from '../../src/domain/turns';
import { sagaAttributes } from '../../src/temporal/search-attributes';
import { readDocument } from '../support/project';

const page = readDocument('docs/contract.md');

it.each<[string, readonly string[]]>([
  ['workflows', workflowNames],
  ['workflow ids', workflowNames.map((name) => workflowIdOf(name, ''))],
  ['states', sagaStates],
  ['statuses', stepStatuses],
  ['outcomes', sagaOutcomes],
  ['leftovers', leftoverSchema.options.map(({ shape }) => shape.kind.value)],
  ['failures', sagaFailureNames],
  ['search attributes', Object.values(sagaAttributes).map(({ name }) => name)],
  ['decisions', decisionNames],
  ['of sweeps', [reconcileWorkflow, couldNotLook, ...sweepOutcomes, ...findingKinds]],
  ['the rest', [defaultTaskQueue, attributesGivenMemo, holdWorkflow, turnSignal]],
])('names all %s', (_what, names) => {
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it('names every exit status', () => {
  const [, row = ''] = /^- \*\*exit statuses\*\*: (.*)$/m.exec(page) ?? [];
  expect(row.match(/\d+/g)?.map(Number)).toEqual(Object.values(exitStatus).sort((a, b) => a - b));
});

it('points at schemas that are there', () => {
  const named = [...page.matchAll(/`(schemas\/[\w.]+\.json)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !existsSync(join(__dirname, '..', '..', path)))).toEqual([]);
});
