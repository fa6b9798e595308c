import { sha256 } from '@noble/hashes/sha2.js';
import { isEqual } from 'computation-management-formats/bytes';

/** A state of a log: how many entries it has, and the root of its Merkle tree. */
export interface Tree {
  /** An integer from 0 to 2^53 - 1. */
  size: number;
  /** The root of the tree, 32 bytes. */
  root: Uint8Array;
}

/** The root of a tree without entries: the SHA-256 of nothing. */
export const emptyRoot: Uint8Array = sha256(new Uint8Array());

/** Returns the hash of an entry as a leaf of the tree (RFC 6962, section 2.1). */
export const leafHash = (entry: Uint8Array): Uint8Array => sha256.create().update(Uint8Array.of(0)).update(entry).digest();

/** Returns the hash of an inner node of the tree (RFC 6962, section 2.1). */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  sha256.create().update(Uint8Array.of(1)).update(left).update(right).digest();

/** Returns how many leaves the left part of a tree has: the greatest power of two below its size. @param size an integer from 2 */
export function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/**
 * Returns whether an inclusion proof shows that a leaf is in a tree at an index (RFC 6962, section 2.1.1).
 * @param proof the hashes beside the path from the leaf to the root, those at the leaf first
 */
export function verifyInclusion(leaf: Uint8Array, index: number, { size, root }: Tree, proof: readonly Uint8Array[]): boolean {
  if (!isSize(size) || !isSize(index) || index >= size) return false;
  const found = rootAbove(leaf, index, size, proof);
  return found !== undefined && isEqual(found, root);
}

function rootAbove(leaf: Uint8Array, index: number, size: number, proof: readonly Uint8Array[]): Uint8Array | undefined {
  const beside = proof.at(-1);
  if (size === 1 || beside === undefined) return size === 1 && beside === undefined ? leaf : undefined;
  const split = splitOf(size);
  const isLeft = index < split;
  const own = rootAbove(leaf, isLeft ? index : index - split, isLeft ? split : size - split, proof.slice(0, -1));
  return own && (isLeft ? nodeHash(own, beside) : nodeHash(beside, own));
}

/**
 * Returns whether a consistency proof shows that the entries of an old tree are the first ones of a new tree (RFC 6962, section
 * 2.1.2). The proof is empty if the old tree is empty or as large as the new one.
 */
export function verifyConsistency(old: Tree, now: Tree, proof: readonly Uint8Array[]): boolean {
  if (!isSize(old.size) || !isSize(now.size) || old.size > now.size) return false;
  if (old.size === 0) return proof.length === 0 && isEqual(old.root, emptyRoot) && (now.size > 0 || isEqual(now.root, emptyRoot));
  const roots = rootsAbove(old.size, now.size, proof, old.root);
  return roots !== undefined && isEqual(roots.old, old.root) && isEqual(roots.now, now.root);
}

/**
 * Returns the roots of both trees within a part of the new tree, as a proof implies them.
 * @param count how many leaves of the part the old tree has, at least 1
 * @param oldRoot the root of the old tree, if the part begins at its first leaf. The proof omits it if it is a node of the new tree
 */
function rootsAbove(
  count: number,
  size: number,
  proof: readonly Uint8Array[],
  oldRoot?: Uint8Array,
): { old: Uint8Array; now: Uint8Array } | undefined {
  const last = proof.at(-1);
  if (count === size) {
    const whole = oldRoot ?? last;
    return whole && proof.length === (oldRoot ? 0 : 1) ? { old: whole, now: whole } : undefined;
  }
  if (last === undefined) return undefined;
  const split = splitOf(size);
  const rest = proof.slice(0, -1);
  if (count <= split) {
    const left = rootsAbove(count, split, rest, oldRoot);
    return left && { old: left.old, now: nodeHash(left.now, last) };
  }
  const right = rootsAbove(count - split, size - split, rest);
  return right && { old: nodeHash(last, right.old), now: nodeHash(last, right.now) };
}

const isSize = (value: number) => Number.isSafeInteger(value) && value >= 0;
