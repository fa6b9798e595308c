import { toHex } from './bytes.ts';
import { hashOfBytes } from './digests.ts';
import { characters } from './fields.ts';

/** The largest number of changes that the service names for one approval. */
export const mostChanges = 20;

/**
 * The longest value that is shown of a changed member, in Unicode code points. A longer value is replaced by `sha256:` and its
 * hash.
 */
export const longestValue = 200;

/**
 * A value in the manifest or configuration that an approval covers, as it is shown. Hashes are in hex, and longer values are
 * replaced by their hash. null: there is no value.
 */
export type CoveredValue = string | number | boolean | null;

/** A difference between what a user approved and what would run now. */
export interface ApprovalChange {
  /** The place of the difference in `{manifest, configuration, signature, expires_at, cvm_ids, max_runs}`, as a JSON pointer. */
  path: string;
  approved: CoveredValue;
  current: CoveredValue;
}

/** A difference between what a user approved and what would run now, with the places of the entry of a list in which it is. */
export interface PlacedChange extends ApprovalChange {
  /**
   * The places of the changed receiver or dataset in the approved list and in the current list. undefined in a list that lacks it.
   * Absent outside of these lists.
   */
  places?: readonly [approved: number | undefined, current: number | undefined];
}

/** The parts of a dataset in a manifest that are compared. */
interface Dataset {
  filename: string;
  hash?: number[] | undefined;
  user_key?: string | undefined;
}

/** The manifest and the configuration that an approval covers. A manifest that is not complete may lack members. */
export interface Covered {
  manifest: { datasets: Dataset[]; algorithm?: object | undefined; result_consumers?: object[] };
  configuration: object;
  /**
   * The users who may fetch the result, in the order of their keys in the manifest, by whom these keys are matched. Absent: keys are
   * matched by their places.
   */
  receivers?: readonly string[];
}

/** The changes of one list of a policy that come before what else changed. */
const mostOfList = 3;

/**
 * Returns the differences between the manifest and configuration that were approved and those that would run now, the most harmful
 * first, so that a limit on their number hides the others. Datasets are matched by their file names, reviewers and receivers of released
 * results by user. Added and changed receivers come first, then the settings of the policy, access to logs and the review, the rest of the
 * policy, the rest of the configuration, the algorithm, the datasets, and then what only takes away: receivers, and values of a list in a
 * policy that stays. Last come what would hide others: the members of a policy that came or went as a whole, but for `vmpl`, which each policy
 * has, and the changes of a list of a policy, or of its PCRs, from the fourth on.
 */
export function changesBetween(approved: Covered, current: Covered): PlacedChange[] {
  const { datasets: before, algorithm, result_consumers: _, ...rest } = approved.manifest;
  const { datasets: after, algorithm: newAlgorithm, result_consumers: __, ...newRest } = current.manifest;
  const changes = [
    ...differencesByName('/manifest/result_consumers', receiversOf(approved), receiversOf(current)),
    ...differences('/configuration', approved.configuration, current.configuration),
    ...differences('/manifest/algorithm', algorithm, newAlgorithm),
    ...differencesByName('/manifest/datasets', datasetsOf(before), datasetsOf(after), '/filename'),
    ...differences('/manifest', rest, newRest),
  ];
  const isWhole = [approved, current].some((each) => memberAt(each, policyPath) === null);
  const listOf = (path: string) => /^(.+)\/\d+$/.exec(path)?.[1];
  // A value that a list lacks makes a policy stricter. A PCR that a policy lacks makes it weaker.
  const isTaken = ({ path, current: value }: PlacedChange) =>
    isPolicy.test(path) && value === null && Array.isArray(memberAt(current, listOf(path) ?? ''));
  const others = changes
    .filter((each) => isPolicy.test(each.path) && !isTaken(each))
    .toSorted((one, other) => Number(one.current !== null) - Number(other.current !== null));
  const rank = (change: PlacedChange): number => {
    const { path, current: value } = change;
    const list = listOf(path);
    const isLong = list !== undefined && others.filter((other) => listOf(other.path) === list).indexOf(change) >= mostOfList;
    if (isPolicy.test(path) && (isWhole ? path !== `${policyPath}/vmpl` : isLong)) return 6;
    if (/^.(manifest.result_consumers|configuration.result_review.consumers)/.test(path)) return value === null ? 5 : 0;
    if (!path.startsWith('/configuration/')) return 4;
    if (isTaken(change)) return 5;
    if (/^.configuration.(attestation_policy.(vmpl|allow_)|log_access|result_review)/.test(path)) return 1;
    return isPolicy.test(path) ? 2 : 3;
  };
  return changes.toSorted((one, other) => rank(one) - rank(other));
}

function memberAt(root: unknown, path: string): unknown {
  const names = path.split('/').slice(1);
  return names.reduce((part, name) => partsOf(part)[name], root);
}

/** An entry of a list in a manifest, with the name by which it is matched. */
interface Named {
  name: string;
  value: object;
}

const receiversOf = ({ manifest: { result_consumers = [] }, receivers = [] }: Covered): Named[] =>
  result_consumers.map((value, index) => ({ name: receivers[index] ?? String(index), value }));

const datasetsOf = (datasets: Dataset[]): Named[] => datasets.map((value) => ({ name: value.filename, value }));

/**
 * Returns the differences between two lists in a manifest: entries that were added, removed or changed.
 * @param placeOfName the place of the name in an entry, for entries that were moved to another place. Default: the order does not matter
 */
function differencesByName(path: string, before: Named[], after: Named[], placeOfName?: string): PlacedChange[] {
  const find = (all: Named[], { name }: Named) => all.find((each) => each.name === name);
  const placeIn = (all: Named[], entry: Named | undefined) => (entry ? all.indexOf(entry) : undefined);
  const at = (one: Named | undefined, other: Named | undefined, changes: ApprovalChange[]): PlacedChange[] =>
    changes.map((each) => ({ ...each, places: [placeIn(before, one), placeIn(after, other)] }));
  const stay = before.filter((each) => find(after, each));
  const moved = after.filter((each) => find(before, each));
  return [
    ...before.flatMap((each, index) =>
      find(after, each) ? [] : at(each, undefined, differences(`${path}/${index}`, each.value, undefined)),
    ),
    ...after.flatMap((each, index) => {
      const one = find(before, each);
      return at(one, each, differences(`${path}/${index}`, one?.value, each.value));
    }),
    ...(placeOfName === undefined ? [] : moved).flatMap((each, index) => {
      const place = `${path}/${after.indexOf(each)}${placeOfName}`;
      return at(stay[index], each, differences(place, stay[index]?.name, each.name));
    }),
  ];
}

/**
 * Returns a difference between two values, as it is shown. Values of more than 200 characters are replaced by their hash.
 * @param path the place of the values, as a JSON pointer
 */
export function change(path: string, before: unknown, after: unknown): ApprovalChange {
  return { path, approved: valueOf(before), current: valueOf(after) };
}

/**
 * Returns the differences between two JSON values, with their paths below a path. Hashes, which are arrays of numbers, are
 * compared as a whole.
 */
function differences(path: string, before: unknown, after: unknown): ApprovalChange[] {
  if (!hasParts(before) && !hasParts(after)) {
    const changed = change(path, before, after);
    return changed.approved === changed.current ? [] : [changed];
  }
  const [parts, others] = [partsOf(before), partsOf(after)];
  if (isPolicy.test(path) && (Array.isArray(before) || Array.isArray(after)))
    return differencesOfSets(path, Object.values(parts), Object.values(others));
  if (isOfUsers.test(path)) return differencesOfUsers(path, Object.values(parts), Object.values(others));
  const names = new Set([...Object.keys(parts), ...Object.keys(others)]);
  return [...names].flatMap((name) => differences(`${path}/${name}`, parts[name], others[name]));
}

const policyPath = '/configuration/attestation_policy';
const isPolicy = /^.configuration.attestation_policy/;
const isOfUsers = /^.configuration.result_review.(reviewers|consumers)$/;

/** Returns a difference for each user who was removed from or added to a list, or, if only their order is another, for each place. */
function differencesOfUsers(path: string, before: unknown[], after: unknown[]): ApprovalChange[] {
  const changes = [
    ...before.flatMap((user, index) => (after.includes(user) ? [] : [change(`${path}/${index}`, user, undefined)])),
    ...after.flatMap((user, index) => (before.includes(user) ? [] : [change(`${path}/${index}`, undefined, user)])),
  ];
  return changes.length > 0 ? changes : after.flatMap((user, index) => differences(`${path}/${index}`, before[index], user));
}

/**
 * Returns the differences between two lists whose order does not matter: a difference for each value that was added or removed, at its
 * place in its list. One that was added at the place of one that was removed is one difference.
 */
function differencesOfSets(path: string, before: unknown[], after: unknown[]): ApprovalChange[] {
  const missingIn = (list: unknown[], others: unknown[]) => list.map((each) => (others.includes(each) ? undefined : each));
  const [removed, added] = [missingIn(before, after), missingIn(after, before)];
  const places = Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => index);
  return places.flatMap((index) => differences(`${path}/${index}`, removed[index], added[index]));
}

const isHash = (part: unknown): part is number[] => Array.isArray(part) && typeof part[0] === 'number';

const hasParts = (part: unknown): boolean => typeof part === 'object' && part !== null && !isHash(part);

const partsOf = (part: unknown): Record<string, unknown> => (hasParts(part) ? { ...(part as object) } : {});

function valueOf(part: unknown): ApprovalChange['current'] {
  if (part === undefined || part === null) return null;
  if (isHash(part)) return toHex(part);
  if (typeof part === 'boolean' || typeof part === 'number') return part;
  const text = typeof part === 'string' ? part : JSON.stringify(part);
  return characters(text) <= longestValue ? text : `sha256:${hashOfBytes(new TextEncoder().encode(text))}`;
}
