import { computationKeys, type Key, userKeys } from '../table/keys.ts';
import { type Table, type Item, queryPrefix } from '../table/table.ts';
import { placeOfLink } from './link.ts';
import { computationNumber } from './computation.ts';

/** The most computations of a user that a list of open tasks examines. */
const mostComputations = 300;
/** The most linked assets of a user that a list of open tasks examines. */
export const mostAssets = 1_000;

/**
 * The part that a user takes in a computation: whether the computation names the user, and which of the user's assets are
 * linked.
 */
export interface Participation {
  computation: number;
  /** True if the user is the owner of the computation, or a consumer that it names. */
  isNamed: boolean;
  /** The parts for which the computation names the user. */
  named: ('provider' | 'consumer')[];
  hasKey: boolean;
  /** The numbers of the user's own assets that are linked to the computation. */
  assets: number[];
  isPartial: boolean;
}

/**
 * The most items that are read to find the computations of a user. More of them mean more than 300 computations or 1,000 assets,
 * because a user is in a computation at most twice, beside the assets.
 */
const mostItems = 2 * mostComputations + mostAssets + 1;

/**
 * Reads in which computations a user takes part, in one round trip. Those by the user's own doing come first, then those into
 * which others brought the user, then those that only name the user as a provider; each group is sorted newest first.
 * @returns `areAll` is false if the user takes part in more than a list of open tasks examines
 */
export async function readParticipations(
  table: Table,
  domain: string,
  userId: string,
): Promise<{ participations: Participation[]; areAll: boolean }> {
  const { own: ownPrefix, in: prefix, asked: askedPrefix } = userKeys.prefixes;
  const read = async (prefix: string) => {
    const options = { limit: mostItems, newestFirst: true };
    const items = await queryPrefix(table, userKeys.partition(domain, userId), prefix, options);
    return items.map(({ sk }) => String(sk).slice(prefix.length).split('#'));
  };
  const [own, others, asked] = await Promise.all([read(ownPrefix), read(prefix), read(askedPrefix)]);
  const oldest = others.length < mostItems ? 0 : Number(others.at(-1)?.[0]);
  const participations = [...Map.groupBy([...own, ...others, ...asked], ([computation]) => Number(computation))].map(
    ([computation, entries]): Participation => ({
      computation,
      isNamed: entries.some(([, as]) => as === 'owner' || as === 'consumer'),
      named: (['provider', 'consumer'] as const).filter((part) => entries.some(([, as]) => as === part)),
      hasKey: entries.some(([, as]) => as === 'key'),
      assets: entries.flatMap(([, as, asset]) => (as === 'asset' ? [Number(asset)] : [])),
      isPartial: computation <= oldest,
    }),
  );
  const areAll = [own, others, asked].every(({ length }) => length < mostItems) && participations.length <= mostComputations;
  return { participations: participations.slice(0, mostComputations), areAll };
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
    const { sk, created_by, consumers, providers, user_id } = item;
    if (typeof created_by === 'string') return [placeOfLink(domain, id, item)];
    if (Array.isArray(consumers)) return consumers.map((user) => userKeys.consumer(domain, String(user), number));
    if (Array.isArray(providers)) return providers.map((user) => userKeys.provider(domain, String(user), number));
    return String(sk).startsWith(computationKeys.prefixes.key) ? [userKeys.key(domain, String(user_id), number)] : [];
  });
  return [...mirrors, ...[true, false].map((isOwn) => userKeys.owner(domain, owner, number, isOwn))];
}
