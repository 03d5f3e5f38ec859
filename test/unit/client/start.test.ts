/** A start gives up against somebody who replaces the runs as fast as they are looked at. */
import { Client } from '@temporalio/client';
import { OrderSagaClient } from '../../../src/client/client';
import { ReferenceTakenError } from '../../../src/client/errors';
import { startUnlessThere } from '../../../src/client/workers';
import { changeRequest } from '../../support/requests';

jest.mock('../../../src/client/workers', () => ({
  ...jest.requireActual<object>('../../../src/client/workers'),
  startUnlessThere: jest.fn(() => Promise.resolve(undefined)),
}));
jest.mock('../../../src/client/first-request', () => ({
  requireSameRequest: () => Promise.reject(new ReferenceTakenError('change/R', [])),
  tookNoReference: () => Promise.resolve(true),
}));

it('a start over runs that took nothing is tried ten times, and no more', async () => {
  const sagas = new OrderSagaClient(new Client({ connection: {} as never }));
  await expect(sagas.change(changeRequest())).rejects.toBeInstanceOf(ReferenceTakenError);
  expect(startUnlessThere).toHaveBeenCalledTimes(10);
});
