/** A namespace that keeps its operator service from workers: whoever starts one is told what to do. */
import type { NativeConnection } from '@temporalio/worker';
import { CannotStart } from '../../../src/config';
import { ensureSearchAttributes } from '../../../src/operations/search-attributes';
import { grpcCodes } from '../../../src/temporal/service';
import { grpcError } from '../activities/lone-activities';

const server = (operatorService: object) => ({ operatorService }) as Pick<NativeConnection, 'operatorService'>;
const refusing = (code: number) => server({ listSearchAttributes: () => Promise.reject(grpcError(code, 'no')) });

it.each([grpcCodes.permissionDenied, grpcCodes.unimplemented])('code %i comes with the commands', async (code) => {
  const refused = ensureSearchAttributes(refusing(code), 'shop');
  await expect(refused).rejects.toThrow(CannotStart);
  await expect(refused).rejects.toThrow(
    /temporal operator search-attribute create --namespace shop --name SagaState --type Keyword/,
  );
});

it('a namespace without room says how many places there are, and what takes them', async () => {
  const keyword = 2;
  const full = server({
    listSearchAttributes: () => Promise.resolve({ customAttributes: { CustA: keyword, CustB: keyword } }),
    addSearchAttributes: () => Promise.reject(new Error('cannot have more than 10 search attribute of type Keyword.')),
  });
  const refused = ensureSearchAttributes(full, 'shop');
  await expect(refused).rejects.toThrow(
    /no room .* ten places of type Keyword, sagas need 7, and 2 are taken by CustA, CustB/,
  );
});

it('a server that is not there is another matter', async () => {
  await expect(ensureSearchAttributes(refusing(grpcCodes.unavailable), 'shop')).rejects.toMatchObject({ code: 14 });
});
