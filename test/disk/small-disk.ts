import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const sizeInMebibytes = 32;
const pageInBytes = 4096;

/** A disk in memory that can be filled up to a number of free pages. Needs Linux and permission to mount (root). */
export class SmallDisk {
  private readonly directory = mkdtempSync(join(tmpdir(), 'disk-'));
  private readonly filler = join(this.directory, 'filler');
  private isMounted = false;
  /** The path on the disk for the service's state. Nothing is there after `mount`. */
  readonly data = join(this.directory, 'data');

  /** Mounts the disk, empty. */
  mount(): void {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeInMebibytes}m`, 'tmpfs', this.directory]);
    this.isMounted = true;
  }

  unmount(): void {
    if (this.isMounted) execFileSync('umount', ['-l', this.directory]);
    this.isMounted = false;
  }

  /** Fills the disk except for this number of pages of 4 KiB. */
  leave(pages: number): void {
    const { bavail, bsize } = statfsSync(this.directory);
    writeFileSync(this.filler, Buffer.alloc(Math.max(0, bavail * bsize - pages * pageInBytes)));
  }

  /** Frees the space that `leave` filled. */
  free(): void {
    rmSync(this.filler);
  }

  /** Unmounts it, and removes its directory. */
  remove(): void {
    this.unmount();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
