import { computationKeys, type Key, userKeys } from '../table/keys.ts';
import { type Table, type Item, queryPrefix } from '../table/table.ts';
import { placeOfLink } from './link.ts';
import { computationNumber } from './computation.ts';

/** The most computations of a user that a list of open tasks examines. */
const mostComputations = 300;
/** The most linked assets of a user that a list of open tasks examines. */
export const mostAssets = 1_000;

/**
 * The part that a user takes in a computation: whether the user owns it or it names the user, and which of the user's assets are
 * linked.
 */
export interface Participation {
  computation: number;
  isOwner: boolean;
  /** True if the computation names the user as a provider or consumer. */
  isNamed: boolean;
  hasKey: boolean;
  /** The numbers of the user's own assets that are linked to the computation. */
  assets: number[];
  isPartial: boolean;
}

/** The most computations that only name a user, the newest, among which a list of open tasks finds invitations. */
const mostInviting = 1_000;

/**
 * The most items that are read to find the computations of a user. More of them mean more than 300 computations or 1,000 assets,
 * because a user is in a computation at most twice, beside the assets.
 */
const mostItems = 2 * mostComputations + mostAssets + 1;

/**
 * Reads in which computations a user takes part, in one round trip. Those by the user's own doing come first, then those into
 * which others brought the user; each group is sorted newest first.
 * @returns `areAll` is false if the user takes part in more than a list of open tasks examines. `inviting` has the numbers of the
 *   computations that only name the user, newest first: the newest 1,000 of them
 */
export async function readParticipations(
  table: Table,
  domain: string,
  userId: string,
): Promise<{ participations: Participation[]; areAll: boolean; inviting: number[]; areAllInviting: boolean }> {
  const { own: ownPrefix, in: prefix, asked: askedPrefix } = userKeys.prefixes;
  const read = async (prefix: string) => {
    const options = { limit: mostItems, newestFirst: true };
    const items = await queryPrefix(table, userKeys.partition(domain, userId), prefix, options);
    return items.map(({ sk }) => String(sk).slice(prefix.length).split('#'));
  };
  const [own, others, asked] = await Promise.all([read(ownPrefix), read(prefix), read(askedPrefix)]);
  const oldestIn = (entries: string[][]) => (entries.length < mostItems ? 0 : Number(entries.at(-1)?.[0]));
  const oldest = Math.max(oldestIn(others), oldestIn(asked));
  const named = new Set(asked.map(([computation]) => Number(computation)));
  const byComputation = Map.groupBy([...own, ...others], ([computation]) => Number(computation));
  const participations = [...byComputation].map(([computation, entries]): Participation => ({
    computation,
    isOwner: entries.some(([, as]) => as === 'owner'),
    isNamed: named.has(computation),
    hasKey: entries.some(([, as]) => as === 'key'),
    assets: entries.flatMap(([, as, asset]) => (as === 'asset' ? [Number(asset)] : [])),
    isPartial: computation <= oldest,
  }));
  const areAll = [own, others].every(({ length }) => length < mostItems) && participations.length <= mostComputations;
  const inviting = [...named].filter((computation) => !byComputation.has(computation));
  return {
    participations: participations.slice(0, mostComputations),
    areAll,
    inviting: inviting.slice(0, mostInviting),
    areAllInviting: asked.length < mostItems && inviting.length <= mostInviting,
  };
}

interface Participated {
  domain: string;
  id: string;
  owner: string;
}

/**
 * Returns the keys of the items that list a computation among the open tasks of its participants.
 * @param items the items of the computation at `computationKeys`
 */
export function participationKeys({ domain, id, owner }: Participated, items: Item[]): Key[] {
  const number = computationNumber(id);
  const mirrors = items.flatMap((item): Key[] => {
    const { sk, created_by, consumers, providers, former, user_id } = item;
    if (typeof created_by === 'string') return [placeOfLink(domain, id, item)];
    if (Array.isArray(consumers)) return consumers.map((user) => userKeys.consumer(domain, String(user), number));
    if (Array.isArray(providers))
      return [providers as unknown[], (former ?? []) as unknown[]]
        .flat()
        .map((user) => userKeys.provider(domain, String(user), number));
    return String(sk).startsWith(computationKeys.prefixes.key) ? [userKeys.key(domain, String(user_id), number)] : [];
  });
  return [...mirrors, ...[true, false].map((isOwn) => userKeys.owner(domain, owner, number, isOwn))];
}
