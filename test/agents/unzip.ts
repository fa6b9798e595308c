import { inflateRawSync } from 'node:zlib';

/** Reads the files of a ZIP archive, as an agent packs its results: stored or deflated, less than 4 GiB. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const end = archive.lastIndexOf('PK\u0005\u0006', undefined, 'latin1');
  if (end < 0) throw new Error('The result is no ZIP archive.');
  let place = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const method = archive.readUInt16LE(place + 10);
    const size = archive.readUInt32LE(place + 20);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => archive.readUInt16LE(place + offset));
    const name = archive.toString('utf8', place + 46, place + 46 + (nameLength ?? 0));
    const header = archive.readUInt32LE(place + 42);
    const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const content = archive.subarray(start, start + size);
    files.set(name, method === 8 ? inflateRawSync(content) : content);
    place += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return files;
}
