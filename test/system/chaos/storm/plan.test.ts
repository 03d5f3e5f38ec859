import { requestSchemas } from '../../../../src/domain/requests';
import { planOf } from './plan';

const plan = planOf('a seed', 400);

it('is the same for the same seed, and another one for another', () => {
  expect(planOf('a seed', 400)).toEqual(plan);
  expect(planOf('another seed', 400)).not.toEqual(plan);
});

it('asks for nothing that a client would refuse', () => {
  const schemas = requestSchemas();
  for (const { asked } of plan.sagas) expect(schemas[asked.workflow]().safeParse(asked.request).error).toBeUndefined();
});
