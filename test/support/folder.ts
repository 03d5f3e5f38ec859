/** A folder of a test file's own, which goes when its tests are over. */
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Where data go that need not outlast the machine: into memory, where it has room for them. A commit that waits for a
 * disk takes a hundred times as long.
 */
export const inMemory = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir();

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 2 ** 30;
}

export function folderForFile(within = inMemory) {
  const path = mkdtempSync(join(within, 'order-saga-test-'));
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
