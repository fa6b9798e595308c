import { leavesPerMid, listKeys, numbersPerLeaf, numbersPerMid, type List } from './keys.ts';
import type { Item } from './table.ts';

/** The number of members with a facet in a leaf. */
export interface LeafCount {
  firstNumber: number;
  count: number;
}

/** The part of a leaf's members, newest first, that is on a page. */
export interface LeafSlice {
  firstNumber: number;
  skip: number;
  take: number;
}

/** Returns the attribute of a leaf item that contains the facet's members, as offsets within the leaf. */
export function leafAttribute(list: List, facet: string): string {
  const code = list.facets[facet];
  if (code === undefined) throw new TypeError(`The list ${list.pk} has no facet ${facet}.`);
  return code;
}

/** Returns the attribute of a mid item that counts a leaf's members with the facet: the facet's code and the leaf in base 32. */
export function midAttribute(list: List, facet: string, number: number): string {
  return leafAttribute(list, facet) + Math.floor((number % numbersPerMid) / numbersPerLeaf).toString(leavesPerMid);
}

/** Returns the leaves that have members with the facet, newest first. Default: any facet. */
export function leafCounts(list: List, mids: Item[], facet?: string): LeafCount[] {
  const codes = codesOf(list, facet);
  const counts = new Map<number, number>();
  for (const mid of mids) {
    const firstNumber = Number(String(mid['sk']).slice(listKeys.prefixes.mid.length)) * numbersPerMid;
    for (const [attribute, count] of Object.entries(mid)) {
      if (!codes.has(attribute.charAt(0))) continue;
      if (typeof count !== 'number')
        throw new Error(`The count ${attribute} of ${list.pk} ${String(mid['sk'])} is not a number.`);
      const leaf = firstNumber + Number.parseInt(attribute.slice(1), leavesPerMid) * numbersPerLeaf;
      counts.set(leaf, (counts.get(leaf) ?? 0) + count);
    }
  }
  return [...counts]
    .map(([firstNumber, count]) => ({ firstNumber, count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.firstNumber - a.firstNumber);
}

/** Returns the slices of the leaves that contain the positions from `offset` to `offset + limit`. */
export function slicesAt(counts: LeafCount[], offset: number, limit: number): LeafSlice[] {
  const slices: LeafSlice[] = [];
  let start = 0;
  for (const { firstNumber, count } of counts) {
    if (start >= offset + limit) break;
    const skip = Math.max(0, offset - start);
    const take = Math.min(count, offset + limit - start) - skip;
    if (take > 0) slices.push({ firstNumber, skip, take });
    start += count;
  }
  return slices;
}

/** Returns the numbers of a slice from the leaf's item, newest first. */
export function numbersIn(list: List, leaf: Item | undefined, slice: LeafSlice, facet?: string): number[] {
  const offsets: number[] = [];
  for (const code of codesOf(list, facet)) {
    const members = leaf?.[code] ?? new Set<number>();
    if (!(members instanceof Set)) throw new Error(`The members ${code} of ${list.pk} ${String(leaf?.['sk'])} are not a set.`);
    for (const offset of members) offsets.push(Number(offset));
  }
  return offsets
    .sort((a, b) => b - a)
    .slice(slice.skip, slice.skip + slice.take)
    .map((offset) => slice.firstNumber + offset);
}

function codesOf(list: List, facet: string | undefined): Set<string> {
  return new Set(facet === undefined ? Object.values(list.facets) : [leafAttribute(list, facet)]);
}
