import {
  appendEntries,
  consistencyProof,
  emptyRoot,
  inclusionProof,
  leafHash,
  MalformedError,
  nodeHash,
  readEntries,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from 'computation-management-transparency-log';
import { toHex } from 'computation-management-formats/bytes';
import { describe, expect, it } from 'vitest';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { entryAt, makeLog } from './memory-log.ts';

/** Returns the root of leaves by the definition of RFC 6962, section 2.1. */
function plainRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [first = emptyRoot] = leaves;
  if (leaves.length < 2) return first;
  const split = 2 ** (Math.ceil(Math.log2(leaves.length)) - 1);
  return nodeHash(plainRoot(leaves.slice(0, split)), plainRoot(leaves.slice(split)));
}

const random = seededRandom(sampleSeed);
const below = (end: number) => Math.floor(random() * end);
/** The leaves of RFC 6962's test vectors, as certificate-transparency-go has them, and the roots of the first 1 to 8 of them. */
const vectors = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const vectorRoots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

describe(`the tree of a log (seed ${sampleSeed})`, () => {
  it('has the roots of the public test vectors', async () => {
    const entries = vectors.map((hex) => Buffer.from(hex, 'hex'));
    for (const [at, root] of vectorRoots.entries()) {
      expect(toHex((await appendEntries(0, entries.slice(0, at + 1), async () => undefined)).root)).toBe(root);
    }
    expect(toHex(emptyRoot)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it('proves each entry and each earlier size, and nothing else, at sizes around whole tiles', async () => {
    const sizes = Array.from({ length: 300 }, (_, at) => at + 1);
    const log = await makeLog(sizes);
    const leaves = sizes.map((size) => leafHash(entryAt(size - 1)));
    const tried = amount({ sample: 20, full: 300 });
    for (const size of tried === 300
      ? sizes
      : [1, 2, 3, 255, 256, 257, 300, ...Array.from({ length: tried }, () => 1 + below(300))]) {
      const now = { size, root: await rootOf(size, log.readTile) };
      expect(toHex(now.root)).toBe(toHex(plainRoot(leaves.slice(0, size))));
      for (const from of [0, 1, below(size), size - 1, size]) {
        const old = { size: from, root: plainRoot(leaves.slice(0, from)) };
        const proof = await consistencyProof(from, size, log.readTile);
        expect(verifyConsistency(old, now, proof)).toBe(true);
        expect(verifyConsistency({ ...old, root: leafHash(old.root) }, now, proof)).toBe(false);
        expect(verifyConsistency(old, { ...now, root: leafHash(now.root) }, proof)).toBe(from === 0);
        expect(verifyConsistency(old, now, [...proof, now.root])).toBe(false);
        if (proof.length > 0) expect(verifyConsistency(old, now, proof.slice(1))).toBe(false);
      }
      for (const index of [0, below(size), size - 1]) {
        const proof = await inclusionProof(index, size, log.readTile);
        const leaf = leaves[index] ?? emptyRoot;
        expect(verifyInclusion(leaf, index, now, proof)).toBe(true);
        expect(verifyInclusion(leafHash(leaf), index, now, proof)).toBe(false);
        expect(verifyInclusion(leaf, index + 1, now, proof)).toBe(false);
        expect(verifyInclusion(leaf, index, now, [...proof, leaf])).toBe(false);
      }
    }
    expect(verifyInclusion(emptyRoot, 0, { size: 0, root: emptyRoot }, [])).toBe(false);
    expect(verifyConsistency({ size: 5, root: emptyRoot }, { size: 4, root: emptyRoot }, [])).toBe(false);
  });

  it('proves the same whatever the sizes at which its tiles were written, also from full tiles where partial ones are gone', async () => {
    const end = 700;
    const [whole, steps] = [await makeLog([end]), await makeLog([1, 200, 256, 300, 513, end])];
    expect([...whole.tiles.keys()].sort()).toEqual([
      'tile/0/000',
      'tile/0/001',
      'tile/0/002.p/188',
      'tile/1/000.p/2',
      'tile/entries/000',
      'tile/entries/001',
      'tile/entries/002.p/188',
    ]);
    expect(toHex(steps.root)).toBe(toHex(whole.root));
    for (const [path, bytes] of whole.tiles) expect([path, toHex(steps.tiles.get(path) ?? [])]).toEqual([path, toHex(bytes)]);
    const onlyFull = async (path: string) => (/^tile\/0\/.*\.p/.test(path) ? undefined : steps.tiles.get(path));
    expect(toHex(await rootOf(300, onlyFull))).toBe(toHex(await rootOf(300, steps.readTile)));
    const entries = await readEntries(190, 700, 700, steps.readTile);
    expect(entries.map((entry) => Buffer.from(entry).toString())).toEqual(
      Array.from({ length: 510 }, (_, at) => Buffer.from(entryAt(190 + at)).toString()),
    );
  });

  it('has a path of each tile as C2SP says', async () => {
    const asked: string[] = [];
    const readTile = async (path: string) => {
      asked.push(path);
      return new Uint8Array(8192);
    };
    await inclusionProof(1234067 * 256, 1234067 * 256 + 3, readTile);
    expect(asked).toContain('tile/0/x001/x234/067.p/3');
  });

  it('refuses missing and short tiles, and long entries', async () => {
    const { readTile } = await makeLog([3]);
    await expect(rootOf(3, async () => undefined)).rejects.toThrow('The log has no tile/0/000.p/3.');
    await expect(rootOf(3, async () => new Uint8Array(64))).rejects.toThrow(MalformedError);
    await expect(readEntries(0, 3, 3, async () => new Uint8Array(4))).rejects.toThrow(MalformedError);
    await expect(appendEntries(3, [new Uint8Array(65_536)], readTile)).rejects.toThrow(RangeError);
    await expect(inclusionProof(3, 3, readTile)).rejects.toThrow(RangeError);
    await expect(consistencyProof(4, 3, readTile)).rejects.toThrow(RangeError);
  });
});
