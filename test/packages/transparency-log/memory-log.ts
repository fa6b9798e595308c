import { appendEntries, type ReadTile } from 'computation-management-transparency-log';

/** A log in memory: its tiles and bundles by path. */
export interface MemoryLog {
  size: number;
  root: Uint8Array;
  tiles: Map<string, Uint8Array>;
  readTile: ReadTile;
}

/** Returns the entry at an index of the logs that tests make: texts of different lengths. */
export const entryAt = (index: number) => new TextEncoder().encode(`entry ${index} ${'.'.repeat(index % 7)}`);

/** Makes a log in memory. @param sizes the sizes at which it writes its tiles, ascending */
export async function makeLog(sizes: readonly number[], entry = entryAt): Promise<MemoryLog> {
  const tiles = new Map<string, Uint8Array>();
  const readTile: ReadTile = async (path) => tiles.get(path);
  let log: { size: number; root: Uint8Array } = { size: 0, root: new Uint8Array() };
  for (const size of sizes) {
    const entries = Array.from({ length: size - log.size }, (_, at) => entry(log.size + at));
    const { tiles: written, ...grown } = await appendEntries(log.size, entries, readTile);
    for (const { path, bytes } of written) tiles.set(path, bytes);
    log = grown;
  }
  return { ...log, tiles, readTile };
}
