/** A folder of a test file's own, which goes when its tests are over. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function folderForFile() {
  const path = mkdtempSync(join(tmpdir(), 'order-saga-test-'));
  afterAll(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return {
    path,
    /** @returns the file's path */
    write: (name: string, content: string | Buffer): string => {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
  };
}
