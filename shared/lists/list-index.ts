import type { IndexPlace } from '../table/index-keys.ts';

/**
 * The index of one or more lists that change together, such as the computations and the runs of a domain. It consists of
 *   the log    an entry for each resource that changed: which members came, moved to another state or went
 *   the head   totals, the newest members, and which entries the trees contain already
 *   the trees  see node.ts; one for each list, and one for each filter with many values
 * A change writes only its own entry, so that two changes never meet. Folding moves entries into the trees (fold.ts).
 * The `scope` is the partition of its first list's rows.
 */
export interface ListIndex extends IndexPlace {
  /** The id of each list's tree, with the id of its filter's tree if it has one. */
  trees: Readonly<Record<string, string | undefined>>;
  /** The ids of the lists whose filter has a group for every few members, such as runs by computation. */
  listsOfSmallGroups?: readonly string[];
}
