import type { List } from '../table/keys.ts';
import { facetsOf, leavesPerMid, numbersPerLeaf, numbersPerMid, oldListKeys } from '../table/old-list-keys.ts';
import type { Item } from '../table/table.ts';

/** The number of members with a facet in a leaf. */
interface LeafCount {
  firstNumber: number;
  count: number;
}

/** Returns the attribute of a leaf item that contains the facet's members, as offsets within the leaf. */
export function leafAttribute(list: List, facet: string): string {
  const code = facetsOf(list)[facet];
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
    const firstNumber = Number(String(mid['sk']).slice(oldListKeys.prefixes.mid.length)) * numbersPerMid;
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

function codesOf(list: List, facet: string | undefined): Set<string> {
  return new Set(facet === undefined ? Object.values(facetsOf(list)) : [leafAttribute(list, facet)]);
}
