import { createHash } from 'node:crypto';

/**
 * The keys of all items in the table, without those of counted lists (packages/counted-list/keys.ts). A list has
 * its small rows in a partition, each at `row#<number>`. Membership, order and counts are in a counted list
 * (docs/adr/0001-lists.md).
 */

/**
 * The number of partitions that share items of all domains. A partition takes 1,000 write units per second, so these items are
 * spread by a hash of their sort key.
 */
const shardCount = 8;

function shardsOf(place: string): string[] {
  return Array.from({ length: shardCount }, (_, shard) => `${place}#${shard}`);
}

/**
 * Returns the partition, one of eight, in which an item of all domains is stored.
 * @param place the name that the partitions have in common
 * @param by the sort key of the item, whose hash selects the partition
 */
function shardOf(place: string, by: string): string {
  return `${place}#${hashByte(by) % shardCount}`;
}

function hashByte(by: string): number {
  const [byte = 0] = createHash('sha256').update(by).digest();
  return byte;
}

/** The partition key and the sort key of an item in the table. It is enough to read the item; to write it takes a `Key`. */
export interface AnyKey {
  pk: string;
  sk: string;
}

declare const writers: unique symbol;

/** The key of an item that any file may write. A plain object with `pk` and `sk` is not accepted: use `writableKey`. */
export interface Key extends AnyKey {
  readonly [writers]: 'any file';
}

/**
 * The key of a row that only one file may write. Functions that read accept it, functions that write do not. The writer of the
 * row converts it with `keyToWrite`, which lint allows only in change-computation.ts, change-run.ts, claim.ts and
 * change-asset.ts.
 */
export interface RowKey extends AnyKey {
  readonly [writers]: 'one file';
}

/** The first part of the name of each counted list in the table, which tells what its members are. */
export const listNames = {
  computations: 'computations',
  ownedComputations: 'owned',
  assets: 'assets',
  runs: 'runs',
  linkedComputations: 'linked',
  cvms: 'cvms',
} as const;

type ListName = (typeof listNames)[keyof typeof listNames];

const listsWithWriter = [listNames.computations, listNames.assets, listNames.runs] as const;

const claims = 'claims';

const rowPrefix = 'row#';

function hasSingleWriter(pk: string, sk: string): boolean {
  const [name] = pk.split('#', 1);
  return name === claims || (sk.startsWith(rowPrefix) && listsWithWriter.some((list) => list === name));
}

/**
 * Makes the key of an item that any file may write.
 * @throws TypeError for a row that only one file may write
 */
export function writableKey(pk: string, sk: string): Key {
  if (hasSingleWriter(pk, sk)) throw new TypeError(`The row ${pk} ${sk} is written by its single writer only.`);
  return { pk, sk } as Key;
}

function rowKey(pk: string, sk: string): RowKey {
  return { pk, sk } as RowKey;
}

/**
 * Converts the key of a row that only one file may write to a key that can be written. Lint allows the call only in the files
 * that are such writers.
 */
export function keyToWrite({ pk, sk }: RowKey): Key {
  return { pk, sk } as Key;
}

/** The partition of the table that has the rows of a list. */
export interface List<Name extends ListName = ListName> {
  pk: `${Name}#${string}`;
}

type OpenList = List<Exclude<ListName, (typeof listsWithWriter)[number]>>;

const padded = (value: number, digits: number) => String(value).padStart(digits, '0');

/** Functions that return the partition of the table with the rows of a list. */
export const lists = {
  computations: (domain: string): List<'computations'> => ({ pk: `${listNames.computations}#${domain}` }),
  /**
   * Returns the list of one owner's computations in a domain. The list has members, but no rows of its own: its members' rows
   * are in the list of all computations.
   */
  ownedComputations: (domain: string): List<'owned'> => ({ pk: `${listNames.ownedComputations}#${domain}` }),
  assets: (domain: string): List<'assets'> => ({ pk: `${listNames.assets}#${domain}` }),
  runs: (domain: string): List<'runs'> => ({ pk: `${listNames.runs}#${domain}` }),
  linkedComputations: (assetId: string): List<'linked'> => ({ pk: `${listNames.linkedComputations}#${assetId}` }),
  /** Returns the list of a domain's CVMs. A row has only the identifier of its CVM. The CVM itself is stored at `cvmKeys.cvm`. */
  cvms: (domain: string): List<'cvms'> => ({ pk: `${listNames.cvms}#${domain}` }),
};

function keyOfRow(list: OpenList, number: number): Key;
function keyOfRow(list: List, number: number): RowKey;
function keyOfRow({ pk }: List, number: number): AnyKey {
  return rowKey(pk, rowPrefix + padded(number, 15));
}

/** Keys of the rows of lists, and of the counters of their numbers. */
export const listKeys = {
  /**
   * The key of the item that counts the numbers that were given to rows of a list. The item is in a partition of its own,
   * because each create of a row changes it.
   */
  counter: (list: List): Key => writableKey(`counter#${list.pk}`, 'counter'),
  row: keyOfRow,
  prefixes: { row: rowPrefix },
};

/**
 * Keys of what is stored with a computation: its configuration, its links, consumers and providers, and its users' keys and
 * approvals.
 */
export const computationKeys = {
  partition: (computationId: string) => `computation#${computationId}`,
  /** Returns the identifier of a computation from the name of its partition, or of the partition of its runs (runKeys). */
  idIn: (partition: string) => partition.slice(partition.indexOf('#') + 1),
  config: (computationId: string): Key => writableKey(computationKeys.partition(computationId), 'part#config'),
  algorithm: (computationId: string): Key => writableKey(computationKeys.partition(computationId), 'part#algorithm'),
  /**
   * The key of the link of a computation to a dataset with the given file name. The name is hashed, because a sort key has at
   * most 1,024 bytes.
   */
  dataset: (computationId: string, fileName: string): Key =>
    writableKey(
      computationKeys.partition(computationId),
      `part#dataset#${createHash('sha256').update(fileName).digest('base64url')}`,
    ),
  consumers: (computationId: string): Key => writableKey(computationKeys.partition(computationId), 'part#consumers'),
  providers: (computationId: string): Key => writableKey(computationKeys.partition(computationId), 'part#providers'),
  userKey: (computationId: string, userId: string): Key => writableKey(computationKeys.partition(computationId), `key#${userId}`),
  approval: (computationId: string, userId: string): Key =>
    writableKey(computationKeys.partition(computationId), `approval#${userId}`),
  refusal: (computationId: string, userId: string): Key =>
    writableKey(computationKeys.partition(computationId), `refusal#${userId}`),
  prefixes: { part: 'part#', dataset: 'part#dataset#', key: 'key#', approval: 'approval#', refusal: 'refusal#' },
};

/**
 * Keys of what each user approved. These items are in a partition of their own for each computation, because few requests read
 * them.
 */
export const approvedKeys = {
  partition: (computationId: string) => `approved#${computationId}`,
  approved: (computationId: string, userId: string): Key => writableKey(approvedKeys.partition(computationId), userId),
};

/**
 * Keys of the items from which a user's list of open tasks is read. Computations and assets are given by their numbers. The items
 * mirror others: each is written and deleted in the same transaction as the item that it mirrors, except that purges delete it, and
 * that a change of more providers than fit into a transaction writes the rest right after it.
 *   in#<computation>#owner            the user owns the computation
 *   own#<computation>#key             the user uploaded a key to it
 *   in#<computation>#asset#<asset>    an asset of the user is linked to it
 *   asked#<computation>#provider      the computation names the user as a provider
 *   asked#<computation>#consumer      the computation names the user as a consumer
 *   pending#<asset>                   the content of an asset of the user has not arrived
 */
export const userKeys = {
  partition: (domain: string, userId: string) => `user#${domain}#${userId}`,
  /**
   * The key of the item that says that the user owns the computation.
   * @param isOwn whether the user created the computation
   */
  owner: (domain: string, userId: string, computation: number, isOwn: boolean): Key =>
    userKeys.part(domain, userId, isOwn ? 'own' : 'in', computation, 'owner'),
  consumer: (domain: string, userId: string, computation: number): Key =>
    userKeys.part(domain, userId, 'asked', computation, 'consumer'),
  provider: (domain: string, userId: string, computation: number): Key =>
    userKeys.part(domain, userId, 'asked', computation, 'provider'),
  key: (domain: string, userId: string, computation: number): Key => userKeys.part(domain, userId, 'own', computation, 'key'),
  /**
   * The key of the item that says that an asset of the user is linked to the computation.
   * @param isOwn whether the user linked the asset
   */
  asset: (domain: string, userId: string, computation: number, asset: number, isOwn: boolean): Key =>
    userKeys.part(domain, userId, isOwn ? 'own' : 'in', computation, `asset#${padded(asset, 15)}`),
  /**
   * The key of an item that says how the user takes part in a computation. The kind is `own` if the user did it, `in` if other
   * users did, `asked` if they only ask the user to. The kinds are kept apart so that other users cannot hide what the user does,
   * however many computations they add.
   */
  part: (domain: string, userId: string, kind: 'own' | 'in' | 'asked', computation: number, as: string): Key =>
    writableKey(userKeys.partition(domain, userId), `${kind}#${padded(computation, 15)}#${as}`),
  pending: (domain: string, userId: string, asset: number): Key =>
    writableKey(userKeys.partition(domain, userId), `pending#${padded(asset, 15)}`),
  prefixes: { own: 'own#', in: 'in#', asked: 'asked#', pending: 'pending#' },
};

/** Keys of the journal of a computation: its head, its latest lifecycle event, its events, and the index segments. */
export const journalKeys = {
  partition: (computationId: string) => `journal#${computationId}`,
  head: (computationId: string): Key => writableKey(journalKeys.partition(computationId), 'head'),
  latest: (computationId: string): Key => writableKey(journalKeys.partition(computationId), 'latest'),
  event: (computationId: string, number: number): Key =>
    writableKey(journalKeys.partition(computationId), `event#${padded(number, 12)}`),
  /**
   * The key of an index segment of a journal. Segments are sorted by the time of their last event, so that a query for a time
   * range reads only its segments.
   */
  segment: (computationId: string, lastTimestamp: string, lastNumber: number): Key =>
    writableKey(journalKeys.partition(computationId), `segment#${lastTimestamp}#${padded(lastNumber, 12)}`),
  prefixes: { event: 'event#', segment: 'segment#' },
};

/**
 * Keys of what is stored with the runs of a computation. The agent's private key is an item of its own, because it is deleted
 * when the run ends.
 */
export const runKeys = {
  partition: (computationId: string) => `runs-of#${computationId}`,
  snapshot: (computationId: string, runId: string): Key => writableKey(runKeys.partition(computationId), `snapshot#${runId}`),
  serverKey: (computationId: string, runId: string): Key => writableKey(runKeys.partition(computationId), `server-key#${runId}`),
  report: (computationId: string, runId: string, reportId: string): Key =>
    writableKey(runKeys.partition(computationId), `report#${runId}#${reportId}`),
  /**
   * The key of the item that names the agent process in the CVM that executes the run. The tokens of this process are stored at
   * `cvmKeys.process`.
   */
  attestation: (computationId: string, runId: string): Key =>
    writableKey(runKeys.partition(computationId), `attestation#${runId}`),
  evidence: (computationId: string, runId: string): Key => writableKey(runKeys.partition(computationId), `evidence#${runId}`),
  /**
   * The key of the note that a run uses an asset that was unlinked. The purge of the computation uses it to find the item at
   * `assetKeys.use`.
   */
  use: (computationId: string, runId: string, assetId: string): Key =>
    writableKey(runKeys.partition(computationId), `use#${runId}#${assetId}`),
  nth: (computationId: string, among: string, ordinal: number): Key =>
    writableKey(runKeys.partition(computationId), `nth#${among}#${padded(ordinal, 9)}`),
  prefixes: { snapshot: 'snapshot#', serverKey: 'server-key#', report: 'report#', use: 'use#' },
};

/**
 * The number of partitions for the items that tell gateways which CVMs have a command. Each gateway reads all of them twice a
 * second. A run writes up to 10 write units to the partition of its CVM.
 */
const pendingShardCount = 4;

interface CommandedRun {
  domain: string;
  cvm_id: string;
  run_id: string;
}

/**
 * Keys of what is stored for a CVM: its registration, its claim, its commands and its agent. Claims of all domains share
 * partitions, because the sweep reads all of them.
 */
export const cvmKeys = {
  cvm: (domain: string, cvmId: string): Key => writableKey(`cvm#${domain}#${cvmId}`, 'cvm'),
  /** The key of the item that says which CVM of a domain has the public key with the given SHA-256 in its certificate. */
  publicKey: (domain: string, hash: string): Key => writableKey(`cvm-key#${domain}`, hash),
  claimShards: shardsOf(claims),
  claim: (domain: string, cvmId: string): RowKey => rowKey(shardOf(claims, `${domain}#${cvmId}`), `${domain}#${cvmId}`),
  claimPrefix: (domain: string) => `${domain}#`,
  commands: (domain: string, cvmId: string) => `commands#${domain}#${cvmId}`,
  command: ({ domain, cvm_id, run_id }: CommandedRun, type: 'run' | 'stop'): Key =>
    writableKey(cvmKeys.commands(domain, cvm_id), `${run_id}#${type}`),
  /** The partitions of the items that tell gateways which CVMs have a command. Gateways read all of these partitions. */
  pendingShards: Array.from({ length: pendingShardCount }, (_, shard) => `pending-commands#${shard}`),
  pending: ({ domain, cvm_id, run_id }: CommandedRun, type: 'run' | 'stop'): Key =>
    writableKey(
      `pending-commands#${hashByte(`${domain}#${cvm_id}`) % pendingShardCount}`,
      `${domain}#${cvm_id}#${run_id}#${type}`,
    ),
  agent: (domain: string, cvmId: string): Key => writableKey(`agent#${domain}#${cvmId}`, 'agent'),
  process: (domain: string, cvmId: string, process: string): Key => writableKey(`agent#${domain}#${cvmId}`, `process#${process}`),
};

/**
 * The key of the item that says that a run has used an SNP guest. Its REPORT_ID is a number of the firmware for one launch of a
 * machine, so the item belongs to no domain.
 */
export const guestKeys = {
  guest: (reportId: string): Key => writableKey(`guest#${reportId}`, 'guest'),
};

/**
 * Keys of what is stored for gateways: their leases, the names that they have taken, messages from other gateways, and their
 * newest deployment.
 */
export const gatewayKeys = {
  partition: (gateway: string) => `gateway#${gateway}`,
  lease: (gateway: string): Key => writableKey(gatewayKeys.partition(gateway), 'lease'),
  name: (name: string): Key => writableKey(`gateway-name#${name}`, 'gateway'),
  newest: writableKey('gateways', 'newest'),
  message: (gateway: string, id: string): Key => writableKey(gatewayKeys.partition(gateway), `letter#${id}`),
  prefixes: { message: 'letter#' },
};

/** Keys of what is stored with an asset: which runs use it after it was unlinked, and the latest reads of its content. */
export const assetKeys = {
  uses: (assetId: string) => `uses#${assetId}`,
  use: (assetId: string, runId: string): Key => writableKey(assetKeys.uses(assetId), runId),
  contentReads: (assetId: string): Key => writableKey(`content-reads#${assetId}`, 'latest'),
};

/** Keys of the checks of stored content, sorted by the time when they are due. */
export const contentCheckKeys = {
  shards: shardsOf('content-checks'),
  check: (dueAt: string, contentKey: string): Key => writableKey(shardOf('content-checks', contentKey), `${dueAt}#${contentKey}`),
  dueIn: (shard: string, now: string, from = '0'): [AnyKey, AnyKey] => [
    { pk: shard, sk: from },
    { pk: shard, sk: `${now}#` },
  ],
};

/**
 * Keys of the slots that requests of an endpoint take while the service holds them until there is something to return (parameter
 * `wait`).
 */
export const waitKeys = {
  slot: (endpoint: string, slot: number): Key => writableKey(`waits#${endpoint}`, `slot#${padded(slot, 4)}`),
};

/**
 * Keys of the collateral: the certificates and lists of hardware makers with which attestation is verified. Operators add these
 * items.
 */
export const collateralKeys = {
  partition: 'collateral',
  item: (hash: string): Key => writableKey(collateralKeys.partition, hash),
};

/**
 * Keys of what is stored once for the whole table: the version of the stored shapes, and whether the table trusts test evidence.
 */
export const schemaKeys = {
  version: writableKey('schema', 'version'),
  roots: writableKey('schema', 'roots'),
};

/** Keys of the answers that are stored for 24 hours for repeats of requests with an Idempotency-Key. */
export const answerKeys = {
  partition: (domain: string) => `answers#${domain}`,
  partitions: (domain: string) => shardsOf(answerKeys.partition(domain)),
  /**
   * The key of the answer that is stored for repeats of a request with an Idempotency-Key.
   * @param request what identifies the request. Its parts come from the user, so only their hash is stored
   */
  answer: (domain: string, request: readonly string[]): Key => {
    const hash = createHash('sha256').update(JSON.stringify(request)).digest('base64url');
    return writableKey(shardOf(answerKeys.partition(domain), hash), hash);
  },
};

/** Keys of the stored logs of runs, sorted by the time at which a gateway stored them. The items expire. */
export const logKeys = {
  partition: (computationId: string) => `logs#${computationId}`,
  prefix: (runId: string) => `${runId}#`,
  chunk: (computationId: string, runId: string, at: number, part: string): Key =>
    writableKey(logKeys.partition(computationId), `${logKeys.prefix(runId)}${padded(at, 15)}#${part}`),
};

/**
 * Keys of the index of names. It has an item for each name, word and checksum, with the number of the row, the newest first. For
 * each row it also has an item with what the row is found by.
 */
export const findKeys = {
  partition: (domain: string, kind: string) => `find#${domain}#${kind}`,
  places: {
    name: (text: string) => `name#${text}`,
    exact: (nameHash: string, ownerHash: string) => `exact#${nameHash}#${ownerHash}`,
    word: (text: string) => `word#${text}`,
    checksum: (text: string) => `checksum#${text}`,
  },
  /**
   * The key of the item by which a row is found under a name, word or checksum. A tab separates it from the number: a tab sorts
   * before every character that a name may have.
   */
  place: (domain: string, kind: string, place: string, number: number): Key =>
    writableKey(findKeys.partition(domain, kind), `${place}\t${padded(Number.MAX_SAFE_INTEGER - number, 16)}`),
  /** The beginning of the keys of a place in full, which no longer place has. */
  whole: (place: string) => `${place}\t`,
  partsOf: (sk: string): { place: string | undefined; number: number } => {
    const [place, number] = sk.split('\t');
    return number === undefined ? { place: undefined, number: NaN } : { place, number: Number.MAX_SAFE_INTEGER - Number(number) };
  },
  known: (domain: string, kind: string, number: number): Key =>
    writableKey(findKeys.partition(domain, kind), `of#${padded(number, 15)}`),
};

/** The key of the state that the sweep of lost runs keeps between its calls. */
export const sweepKeys = {
  state: writableKey('sweep', 'state'),
};

/** Keys of the items that limit the changes of domains, one item for each domain. The items expire. */
export const limitKeys = {
  changes: (domain: string): Key => writableKey(`limit#${domain}`, 'changes'),
};

/** Keys of the purges that are not complete: of deleted assets and computations whose belongings are still stored. */
export const purgeKeys = {
  shards: shardsOf('purges'),
  prefixes: { asset: 'asset#', computation: 'computation#' },
  purge: (kind: 'computation' | 'asset', id: string): Key => writableKey(shardOf('purges', id), `${kind}#${id}`),
};
