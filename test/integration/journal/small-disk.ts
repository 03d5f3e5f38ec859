/** A disk that is soon full: a folder in memory, of so many bytes. Only root may mount one. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'ignore' });

export class SmallDisk {
  private constructor(readonly folder: string) {}

  static make(kilobytes: number): SmallDisk {
    const folder = mkdtempSync(join(tmpdir(), 'order-saga-disk-'));
    try {
      mount('-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=755`, 'tmpfs', folder);
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
    return new SmallDisk(folder);
  }

  /** Writes until nothing fits any more. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.folder);
    writeFileSync(join(this.folder, 'filler'), Buffer.alloc(bavail * bsize));
  }

  empty(): void {
    rmSync(join(this.folder, 'filler'));
  }

  remove(): void {
    // Lazily: the file driver closes its file only when nobody remembers a statement any more.
    execFileSync('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true });
  }
}

/** A sentence where none can be made. */
export function whyNoSmallDisk(): string | undefined {
  try {
    SmallDisk.make(64).remove();
    return undefined;
  } catch {
    return 'a small disk cannot be mounted here: that takes root';
  }
}
