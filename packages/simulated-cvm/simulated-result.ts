import { gzipSync } from 'node:zlib';
import type { Schemas } from 'computation-management-client';

type Manifest = Schemas['Manifest'];

/** A run whose result a simulated CVM makes up. */
interface SimulatedRun {
  runId: string;
  cvmId: string;
  /** The manifest of the run. Undefined if the CVM took the run up after a restart of this machine, without its manifest. */
  manifest: Manifest | undefined;
}

const about = 'A simulated CVM made this result. It ran no algorithm and read no data.';

/**
 * Makes the result of a run on a simulated CVM: a ZIP archive, as an agent gives it, with one file. The file says that the result is simulated, and
 * names the run and the hashes in its manifest.
 */
export function simulatedResult({ runId, cvmId, manifest }: SimulatedRun): Buffer {
  const hex = (hash: number[]) => Buffer.from(hash).toString('hex');
  const inputs = manifest && {
    computation: manifest.id,
    algorithm: hex(manifest.algorithm.hash),
    datasets: Object.fromEntries(manifest.datasets.map(({ filename, hash }) => [filename, hex(hash)])),
  };
  return zipOf('result.json', Buffer.from(`${JSON.stringify({ about, run: runId, cvm: cvmId, ...inputs }, null, 2)}\n`));
}

/** Makes a ZIP archive of one file that is not compressed, as of 1980-01-01 (PKWARE's APPNOTE.TXT, section 4.3). */
function zipOf(name: string, content: Buffer): Buffer {
  const file = Buffer.alloc(26); // what the header of the file and its entry in the directory have in common
  file.writeUInt16LE(20, 0); // version 2.0 extracts it
  file.writeUInt16LE(0x21, 8); // the date
  gzipSync(content).subarray(-8, -4).copy(file, 10); // the CRC-32, as a gzip file ends with: Node 20.12 has no function for it
  file.writeUInt32LE(content.length, 14); // compressed
  file.writeUInt32LE(content.length, 18);
  file.writeUInt16LE(name.length, 22);
  const start = [Buffer.from('PK\x03\x04'), file, Buffer.from(name), content];
  const directory = [Buffer.from('PK\x01\x02\x14\x00'), file, Buffer.alloc(14), Buffer.from(name)];
  const lengths = [start, directory].map((parts) => Buffer.concat(parts).length);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4); // entries on this disk
  end.writeUInt16LE(1, 6); // entries
  end.writeUInt32LE(lengths[1] ?? 0, 8);
  end.writeUInt32LE(lengths[0] ?? 0, 12);
  return Buffer.concat([...start, ...directory, Buffer.from('PK\x05\x06'), end]);
}
