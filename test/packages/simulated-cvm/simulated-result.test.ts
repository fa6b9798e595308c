import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { simulatedResult } from '../../../packages/simulated-cvm/simulated-result.ts';
import { manifest } from '../../../shared/openapi/examples.ts';

/** Reads the only file of a ZIP archive, by the archive's directory. */
function fileIn(archive: Buffer): { name: string; content: Buffer; isWhole: boolean } {
  const end = archive.length - 22;
  const [entry, start] = [archive.readUInt32LE(end + 16), archive.readUInt32LE(archive.readUInt32LE(end + 16) + 42)];
  const size = archive.readUInt32LE(entry + 24);
  const length = archive.readUInt16LE(start + 26);
  const at = start + 30 + length;
  const content = archive.subarray(at, at + size);
  const isWhole =
    archive.readUInt16LE(end + 10) === 1 &&
    at + size === entry &&
    entry + archive.readUInt32LE(end + 12) === end &&
    archive.readUInt32LE(entry + 16) === crc32(content) &&
    archive.subarray(start + 4, start + 30).equals(archive.subarray(entry + 6, entry + 32));
  return { name: archive.toString('latin1', start + 30, at), content, isWhole };
}

const runOf = { runId: 'run-1', cvmId: 'sim-1' };

describe('simulatedResult', () => {
  it('is a ZIP archive of one file, which says that nothing ran and names the hashes of the manifest', () => {
    const { name, content, isWhole } = fileIn(simulatedResult({ ...runOf, manifest }));
    expect({ name, isWhole }).toEqual({ name: 'result.json', isWhole: true });
    const hex = (hash: number[]) => Buffer.from(hash).toString('hex');
    expect(JSON.parse(content.toString())).toEqual({
      about: expect.stringContaining('It ran no algorithm'),
      run: 'run-1',
      cvm: 'sim-1',
      computation: manifest.id,
      algorithm: hex(manifest.algorithm.hash),
      datasets: Object.fromEntries(manifest.datasets.map(({ filename, hash }) => [filename, hex(hash)])),
    });
  });

  it('names only the run when the CVM has taken it up without its manifest', () => {
    const { content } = fileIn(simulatedResult({ ...runOf, manifest: undefined }));
    expect(Object.keys(JSON.parse(content.toString()) as object)).toEqual(['about', 'run', 'cvm']);
  });
});
