import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkRequest } from '../../../src/client/client';
import type { WorkflowName } from '../../../src/domain/identity';

const folder = join(__dirname, '..', '..', '..', 'examples');
const examples: Record<string, WorkflowName> = {
  'provision.json': 'provisionServers',
  'change.json': 'changeOrder',
  'switch.json': 'switchPlan',
  'firewalls.json': 'setFirewalls',
};

it.each(Object.entries(examples))('%s is a valid request', async (file, workflow) => {
  const text = await readFile(join(folder, file), 'utf8');
  expect(checkRequest(workflow, JSON.parse(text)).reference).not.toBe('');
});

it('there is one of each, and no other', async () => {
  expect((await readdir(folder)).filter((name) => name.endsWith('.json')).sort()).toEqual(Object.keys(examples).sort());
});
