/** What `npm test` leaves out as a whole is there, and so is what it has instead. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const filesLeftOut = createRequire(__filename)('../support/files-left-out.cjs') as Record<string, string>;
const isThere = (file: string) => existsSync(join(__dirname, '..', `${file}.test.ts`));

it.each(Object.entries(filesLeftOut))('%s is left out, and %s is not', (leftOut, instead) => {
  expect([leftOut, instead].filter(isThere)).toEqual([leftOut, instead]);
  expect(filesLeftOut).not.toHaveProperty([instead]);
});
