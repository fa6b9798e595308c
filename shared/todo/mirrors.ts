import { assetNumber } from '../assets/read-asset.ts';
import { computationNumber } from '../computations/find-computation.ts';
import { computationKeys, userKeys, type Key } from '../table/keys.ts';
import type { Item } from '../table/table.ts';

interface Mirrored {
  domain: string;
  id: string;
  /** Default: no mirror of the owner. */
  owner?: string | undefined;
}

/**
 * Returns the keys of the items at `userKeys` that mirror a computation.
 * @param items those at `computationKeys`. A link without `created_by`, as earlier versions of the service wrote it, has no mirror.
 */
export function mirrorsOf({ domain, id, owner }: Mirrored, items: Item[]): Key[] {
  const number = computationNumber(id);
  const mirrors = items.flatMap(({ sk, created_by, asset_id, consumers, user_id }): Key[] => {
    if (typeof created_by === 'string') return [userKeys.asset(domain, created_by, number, assetNumber(String(asset_id)))];
    if (Array.isArray(consumers)) return consumers.map((user) => userKeys.consumer(domain, String(user), number));
    return String(sk).startsWith(computationKeys.prefixes.key) ? [userKeys.key(domain, String(user_id), number)] : [];
  });
  return owner === undefined ? mirrors : [...mirrors, userKeys.owner(domain, owner, number)];
}
