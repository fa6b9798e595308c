import { userKeys } from '../table/keys.ts';
import { queryPrefix, type Table } from '../table/table.ts';

/** How a user takes part in a computation. */
export interface Participation {
  /** The number of the computation. */
  computation: number;
  /** As the owner, or as a consumer that the computation names. */
  isNamed: boolean;
  hasKey: boolean;
  /** The numbers of the user's assets that are linked to it. */
  assets: number[];
}

const mostItems = 1_000;

/**
 * Reads the newest computations in which a user takes part, newest first, in one round trip: as many as asked for, or fewer if
 * more than 1,000 of the user's assets and keys are in them.
 */
export async function readParticipations(table: Table, domain: string, userId: string, most: number): Promise<Participation[]> {
  const { in: prefix } = userKeys.prefixes;
  const options = { limit: mostItems, newestFirst: true };
  const items = await queryPrefix(table, userKeys.partition(domain, userId), prefix, options);
  const byComputation = Map.groupBy(
    items.map(({ sk }) => String(sk).slice(prefix.length).split('#')),
    ([computation]) => Number(computation),
  );
  const found = [...byComputation].map(([computation, entries]): Participation => ({
    computation,
    isNamed: entries.some(([, as]) => as === 'owner' || as === 'consumer'),
    hasKey: entries.some(([, as]) => as === 'key'),
    assets: entries.flatMap(([, as, asset]) => (as === 'asset' ? [Number(asset)] : [])),
  }));
  if (items.length === mostItems) found.pop(); // not all of its items were read
  return found.slice(0, most);
}
