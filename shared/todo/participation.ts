import { assetNumber } from '../assets/read-asset.ts';
import { computationNumber } from '../computations/read-computation.ts';
import { computationKeys, type Key, userKeys } from '../table/keys.ts';
import { type Item, queryBetween, type Table } from '../table/table.ts';

/** How a user takes part in a computation. */
export interface Participation {
  /** Its number. */
  computation: number;
  /** As the owner, or as a consumer that the computation names. */
  isNamed: boolean;
  hasKey: boolean;
  /** The numbers of the user's assets that are linked to it. */
  assets: number[];
}

export interface Participations {
  participations: Participation[];
  /** Where the next part begins. Undefined if there are no more. */
  next: number | undefined;
}

const mostItems = 1_000;

/**
 * Reads `most` computations, newest first, or fewer if more than 1,000 of the user's assets and keys are in them. One round trip.
 * @param before only computations with a smaller number
 */
export async function readParticipations(
  table: Table,
  { domain, userId, before }: { domain: string; userId: string; before?: number | undefined },
  most: number,
): Promise<Participations> {
  const [first, last] = userKeys.inBefore(domain, userId, before);
  const items = await queryBetween(table, first, last, { limit: mostItems, newestFirst: true });
  const byComputation = Map.groupBy(
    items.map(({ sk }) => String(sk).slice(userKeys.prefixes.in.length).split('#')),
    ([computation]) => Number(computation),
  );
  const found = [...byComputation].map(([computation, entries]): Participation => ({
    computation,
    isNamed: entries.some(([, as]) => as === 'owner' || as === 'consumer'),
    hasKey: entries.some(([, as]) => as === 'key'),
    assets: entries.flatMap(([, as, asset]) => (as === 'asset' ? [Number(asset)] : [])),
  }));
  const isCut = items.length === mostItems;
  if (isCut) found.pop(); // not all of its items were read
  const participations = found.slice(0, most);
  const areMore = isCut || found.length > most;
  return { participations, next: areMore ? participations.at(-1)?.computation : undefined };
}

interface Participated {
  domain: string;
  id: string;
  owner: string;
}

/** Returns the keys of the items that readParticipations reads of a computation. @param items those at `computationKeys` */
export function participationKeys({ domain, id, owner }: Participated, items: Item[]): Key[] {
  const number = computationNumber(id);
  const mirrors = items.flatMap(({ sk, created_by, asset_id, consumers, user_id }): Key[] => {
    if (typeof created_by === 'string') return [userKeys.asset(domain, created_by, number, assetNumber(String(asset_id)))];
    if (Array.isArray(consumers)) return consumers.map((user) => userKeys.consumer(domain, String(user), number));
    return String(sk).startsWith(computationKeys.prefixes.key) ? [userKeys.key(domain, String(user_id), number)] : [];
  });
  return [...mirrors, userKeys.owner(domain, owner, number)];
}
