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

function shardsOf(place: string, count = shardCount): string[] {
  return Array.from({ length: count }, (_, shard) => `${place}#${shard}`);
}

/**
 * Returns the partition, one of eight or of `count`, in which an item of all domains is stored.
 * @param place the name that the partitions have in common
 * @param by the sort key of the item, whose hash selects the partition
 */
function shardOf(place: string, by: string, count = shardCount): string {
  const [byte = 0] = createHash('sha256').update(by).digest();
  return `${place}#${byte % count}`;
}

/** Returns the first and the last key of what is due in a partition that is sorted by time. */
function dueIn(pk: string, from: string, to: string): [AnyKey, AnyKey] {
  return [
    { pk, sk: from },
    { pk, sk: to },
  ];
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
 * row converts it with `keyToWrite`, which lint allows only in asset.ts, change-computation.ts, change-run.ts and claim.ts.
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
  results: 'results',
  updated: 'updated',
  waiting: 'waiting',
} as const;

type ListName = (typeof listNames)[keyof typeof listNames];

const listsWithWriter = [listNames.computations, listNames.assets, listNames.runs] as const;

const claims = 'claims';
const waitingEntries = 'history-waiting';

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
  /**
   * Returns the list of the assets of a domain that are results of runs under review. It has no rows of its own: those of its members are
   * in the list of all assets.
   */
  results: (domain: string): List<'results'> => ({ pk: `${listNames.results}#${domain}` }),
  /** Returns the list of a domain's CVMs. A row has only the identifier of its CVM. The CVM itself is stored at `cvmKeys.cvm`. */
  cvms: (domain: string): List<'cvms'> => ({ pk: `${listNames.cvms}#${domain}` }),
  /**
   * Returns the list of a domain's computations by the time of their last change. The number of a row stands for this time, and the row
   * has the number of the computation.
   */
  updated: (domain: string): List<'updated'> => ({ pk: `${listNames.updated}#${domain}` }),
  /** Returns the list from which the names of the lists of what waits for each user of a domain begin. It has no rows. */
  waiting: (domain: string): List<'waiting'> => ({ pk: `${listNames.waiting}#${domain}` }),
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

/** A row of the computations, assets, CVMs or runs of a domain, by its number in their list. */
export interface RowOfDomain {
  domain: string;
  kind: 'computation' | 'asset' | 'cvm' | 'run';
  number: number;
}

const kindsOfRows = new Map<string, RowOfDomain['kind']>([
  [listNames.computations, 'computation'],
  [listNames.assets, 'asset'],
  [listNames.cvms, 'cvm'],
  [listNames.runs, 'run'],
]);

/** Returns the computation, asset, CVM or run whose row has the given key. Undefined if the key is of no such row. */
export function rowAt({ pk, sk }: AnyKey): RowOfDomain | undefined {
  const [list = '', domain = ''] = pk.split('#');
  const kind = kindsOfRows.get(list);
  return kind && sk.startsWith(rowPrefix) ? { domain, kind, number: Number(sk.slice(rowPrefix.length)) } : undefined;
}

const ofComputation = (computationId: string, sk: string) => writableKey(computationKeys.partition(computationId), sk);

/**
 * Keys of what is stored with a computation: its configuration, its links, consumers and providers, and its users' keys and
 * approvals.
 */
export const computationKeys = {
  partition: (computationId: string) => `computation#${computationId}`,
  /** Returns the identifier of a computation from the name of its partition, or of the partition of its runs (runKeys). */
  idIn: (partition: string) => partition.slice(partition.indexOf('#') + 1),
  config: (computationId: string): Key => ofComputation(computationId, 'part#config'),
  algorithm: (computationId: string): Key => ofComputation(computationId, 'part#algorithm'),
  /**
   * The key of the link of a computation to a dataset with the given file name. The name is hashed, because a sort key has at
   * most 1,024 bytes.
   */
  dataset: (computationId: string, fileName: string): Key =>
    ofComputation(computationId, `part#dataset#${createHash('sha256').update(fileName).digest('base64url')}`),
  consumers: (computationId: string): Key => ofComputation(computationId, 'part#consumers'),
  providers: (computationId: string): Key => ofComputation(computationId, 'part#providers'),
  userKey: (computationId: string, userId: string): Key => ofComputation(computationId, `key#${userId}`),
  approval: (computationId: string, userId: string): Key => ofComputation(computationId, `approval#${userId}`),
  refusal: (computationId: string, userId: string): Key => ofComputation(computationId, `refusal#${userId}`),
  /** The key of the counts of runs that have started on approvals for a number of runs. */
  usedRuns: (computationId: string): Key => ofComputation(computationId, 'used-runs'),
  prefixes: { part: 'part#', dataset: 'part#dataset#', key: 'key#', approval: 'approval#', refusal: 'refusal#' },
};

/** Keys of the identifiers of approvals for a number of runs that were used in a domain. Each is used once. */
export const approvalIdKeys = {
  partitions: (domain: string) => shardsOf(`approval-ids#${domain}`),
  used: (domain: string, approvalId: string): Key => writableKey(shardOf(`approval-ids#${domain}`, approvalId), approvalId),
};

/**
 * Keys of what each user approved. These items are in a partition of their own for each computation, because few requests read
 * them.
 */
export const approvedKeys = {
  partition: (computationId: string) => `approved#${computationId}`,
  approved: (computationId: string, userId: string): Key => writableKey(approvedKeys.partition(computationId), userId),
};

const ofTodo = (domain: string, by: string | number, sk: string) => writableKey(shardOf(`todo#${domain}`, String(by)), sk);

/**
 * Keys of what is known of the users for whom computations and assets wait (shared/todo/). It is made from the table's stream, and
 * changes only with the lists of `lists.waiting` and `lists.updated`. The users of one partition are of all computations.
 *   of#<computation>#head             the version of all this, the place in `lists.updated`, and the next expiry of an approval
 *   of#<computation>#user#<user>      what waits for the user in the computation
 *   asset#<asset>                     what was last seen of an asset, and whether its content is expected
 *   invited#<user>#<owner>#<number>   the computation of this owner invites the user; both users by their hash
 *   refusals#<user>                   the number of refusals that the user should read
 */
export const todoKeys = {
  prefix: 'todo#',
  partitions: (domain: string) => shardsOf(`todo#${domain}`),
  prefixOf: (computation: number) => `of#${padded(computation, 15)}#`,
  /** Returns the key of the row of the computation, asset or run of which an item at `head`, `asset` or `run` is. Undefined for other items. */
  rowOf: ({ pk, sk }: AnyKey): AnyKey | undefined => {
    const [kind, domain = ''] = pk.split('#');
    const [what, number = '', of] = sk.split('#');
    if (kind !== 'todo') return undefined;
    if (what === 'of' && of === 'head') return keyOfRow(lists.computations(domain), Number(number));
    if (what === 'run') return keyOfRow(lists.runs(domain), Number(number));
    return what === 'asset' ? keyOfRow(lists.assets(domain), Number(number)) : undefined;
  },
  head: (domain: string, computation: number): Key => todoKeys.ofComputation(domain, computation, 'head'),
  user: (domain: string, computation: number, userId: string) => todoKeys.ofComputation(domain, computation, `user#${userId}`),
  ofComputation: (domain: string, computation: number, what: string): Key =>
    ofTodo(domain, computation, `${todoKeys.prefixOf(computation)}${what}`),
  asset: (domain: string, asset: number): Key => ofTodo(domain, asset, `asset#${padded(asset, 15)}`),
  /** The key of the users for whose decision the result of a run waits. */
  run: (domain: string, run: number): Key => ofTodo(domain, run, `run#${padded(run, 15)}`),
  /** The key of the same users, beside the tasks of the computation of the run. */
  review: (domain: string, computation: number, run: number): Key =>
    todoKeys.ofComputation(domain, computation, `run#${padded(run, 15)}`),
  /** The key of an invitation. Without a number: the beginning of those of the owner. Without an owner: of all of the user. */
  invitation: (domain: string, userHash: string, ownerHash = '', computation?: number): Key => {
    const number = computation === undefined ? '' : padded(computation, 15);
    return ofTodo(domain, userHash, `invited#${userHash}#${ownerHash}${ownerHash && '#'}${number}`);
  },
  refusals: (domain: string, userHash: string): Key => ofTodo(domain, userHash, `refusals#${userHash}`),
};

/**
 * Keys of the computations, assets and runs to look at again at a time, because an approval expires or because looking at them failed.
 * Sorted by the time. The sweep of each minute reads those of all domains.
 */
export const recheckKeys = {
  shards: shardsOf('rechecks'),
  recheck: (at: string, thing: string): Key => writableKey(shardOf('rechecks', thing), `${at}#${thing}`),
  thing: (kind: string, domain: string, number: number) => `${kind}#${domain}#${number}`,
  dueIn: (shard: string, now: string) => dueIn(shard, '0', `${now}$`), // after `#`
};

/**
 * Keys that say as of when the lists of what waits are right. The sweep of each minute writes the probes, and the follower of the table's
 * stream notes when it sees each of them.
 */
export const positionKeys = {
  probePrefix: 'probe#',
  probes: shardsOf('probe').map((shard) => writableKey(shard, 'probe')),
  seen: (probe: string): Key => writableKey('seen-probes', probe),
  seenPartition: 'seen-probes',
};

/** The key of the note that the follower of the table on one machine had followed all changes when it ended. */
export const followerKeys = { end: writableKey('follower', 'end') };

const ofJournal = (computationId: string, sk: string) => writableKey(journalKeys.partition(computationId), sk);

/** Keys of the journal of a computation: its head, its latest lifecycle event, its events, and the index segments. */
export const journalKeys = {
  partition: (computationId: string) => `journal#${computationId}`,
  head: (computationId: string): Key => ofJournal(computationId, 'head'),
  latest: (computationId: string): Key => ofJournal(computationId, 'latest'),
  event: (computationId: string, number: number): Key => ofJournal(computationId, `event#${padded(number, 12)}`),
  /**
   * The key of an index segment of a journal. Segments are sorted by the time of their last event, so that a query for a time
   * range reads only its segments.
   */
  segment: (computationId: string, lastTimestamp: string, lastNumber: number): Key =>
    ofJournal(computationId, `segment#${lastTimestamp}#${padded(lastNumber, 12)}`),
  prefixes: { event: 'event#', segment: 'segment#' },
};

const ofRun = (computationId: string, sk: string) => writableKey(runKeys.partition(computationId), sk);

/** Returns the function that makes the keys of one kind of items, of which each run has at most one. */
const oneOfRun = (kind: string) => (computationId: string, runId: string) => ofRun(computationId, `${kind}#${runId}`);

/** Returns the function that makes the keys of one kind of items, of which a run has several. */
const someOfRun = (kind: string) => (computationId: string, runId: string, name: string) =>
  ofRun(computationId, `${kind}#${runId}#${name}`);

/**
 * Keys of what is stored with the runs of a computation. The agent's private key is an item of its own, because it is deleted
 * when the run ends.
 */
export const runKeys = {
  partition: (computationId: string) => `runs-of#${computationId}`,
  snapshot: oneOfRun('snapshot'),
  serverKey: oneOfRun('server-key'),
  report: someOfRun('report'),
  /** The key of the key that a run keeps of an asset. Deleted when the run ends. Its `releases` counts those of this run. */
  assetKey: someOfRun('asset-key'),
  /** The key of what the run refused of its keys: how many refusals the journal has, and the sentence of the last one. */
  refusals: oneOfRun('key-refusals'),
  /** The key of what users did during a run to the approvals that its start needed. There is no item while nothing happened. */
  acts: oneOfRun('acts'),
  /**
   * The key of the item that names the agent process in the CVM that executes the run. The tokens of this process are stored at
   * `cvmKeys.process`.
   */
  attestation: oneOfRun('attestation'),
  evidence: oneOfRun('evidence'),
  /**
   * The key of the note that a run uses an asset that was unlinked. The purge of the computation uses it to find the item at
   * `assetKeys.use`.
   */
  use: someOfRun('use'),
  /** The key of the decision of a reviewer on the result of the run. */
  decision: someOfRun('decision'),
  decisionsOf: (runId: string) => `decision#${runId}#`,
  /** The key of the note that an asset is the result of the run. */
  resultAsset: someOfRun('result-asset'),
  /** The key of the signed statement about the decisions on the result of the run. */
  resultEvidence: oneOfRun('result-evidence'),
  nth: (computationId: string, among: string, ordinal: number) => ofRun(computationId, `nth#${among}#${padded(ordinal, 9)}`),
  prefixes: {
    snapshot: 'snapshot#',
    serverKey: 'server-key#',
    report: 'report#',
    use: 'use#',
    resultAsset: 'result-asset#',
    assetKeys: (runId: string) => `asset-key#${runId}#`,
  },
};

/**
 * The number of partitions for the items that tell gateways which CVMs have a command. Each gateway reads all of them twice a
 * second. A run writes up to 10 write units to the partition of its CVM.
 */
const pendingShardCount = 4;

type CommandedRun = Record<'domain' | 'cvm_id' | 'run_id', string>;

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
  pendingShards: shardsOf('pending-commands', pendingShardCount),
  pending: ({ domain, cvm_id, run_id }: CommandedRun, type: 'run' | 'stop'): Key =>
    writableKey(shardOf('pending-commands', `${domain}#${cvm_id}`, pendingShardCount), `${domain}#${cvm_id}#${run_id}#${type}`),
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

/** Keys of what is stored with an asset: its key, which runs use it after it was unlinked, and the latest reads of its content. */
export const assetKeys = {
  /** The key of the totals of an asset's keys: `releases`, `last_released_at`. Has the encrypted key if the service holds it. */
  key: (assetId: string): Key => writableKey(`asset-key#${assetId}`, 'key'),
  uses: (assetId: string) => `uses#${assetId}`,
  use: (assetId: string, runId: string): Key => writableKey(assetKeys.uses(assetId), runId),
  contentReads: (assetId: string): Key => writableKey(`content-reads#${assetId}`, 'latest'),
};

/** Keys of the checks of stored content, sorted by the time when they are due. */
export const contentCheckKeys = {
  shards: shardsOf('content-checks'),
  check: (dueAt: string, contentKey: string): Key => writableKey(shardOf('content-checks', contentKey), `${dueAt}#${contentKey}`),
  dueIn: (shard: string, now: string, from = '0') => dueIn(shard, from, `${now}#`),
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
export const schemaKeys = { version: writableKey('schema', 'version'), roots: writableKey('schema', 'roots') };

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
  end: (runId: string) => `${logKeys.prefix(runId)}~`,
  chunk: (computationId: string, runId: string, at: number, part: string): Key =>
    writableKey(logKeys.partition(computationId), `${logKeys.prefix(runId)}${padded(at, 15)}#${part}`),
};

/**
 * Keys of the log of the stage (docs/contract.md, section 10): its head, the entries that wait to be integrated, and the place of
 * each integrated entry. Entries have no domain: their tags are hashes.
 */
export const historyKeys = {
  head: writableKey('history', 'head'),
  /** The beginning of the partitions of waiting entries. Readers of the table's stream recognize entries by it. */
  waitingPrefix: `${waitingEntries}#`,
  waitingShards: shardsOf(waitingEntries),
  waiting: (tag: string): Key => writableKey(shardOf(waitingEntries, tag), tag),
  place: (tag: string): Key => writableKey(`history-place#${tag}`, 'place'),
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

/** Keys of the secrets that the service makes for itself, encrypted. */
export const secretKeys = { secret: (name: string): Key => writableKey('secrets', name) };

/**
 * Keys of mail to users: for each domain who wants mail, and to which address; what is to be told to them; and when each user got mail,
 * in all domains. The users are given by their hash.
 */
export const mailKeys = {
  partition: (domain: string) => `mail#${domain}`,
  wish: (domain: string, userHash: string): Key => writableKey(mailKeys.partition(domain), userHash),
  newsShards: shardsOf('mail-news'),
  news: (domain: string, userHash: string, kind: string): Key =>
    writableKey(shardOf('mail-news', `${domain}#${userHash}`), `${domain}#${userHash}#${kind}`),
  sent: (userHash: string): Key => writableKey(`mail-sent#${userHash}`, 'sent'),
};

/** The key of the state that the sweep of lost runs keeps between its calls. */
export const sweepKeys = { state: writableKey('sweep', 'state') };

const ofReleases = (domain: string, sk: string) => writableKey(releaseKeys.partition(domain), sk);

/**
 * Keys of what the release of keys keeps for each domain: its runs with keys, the sessions of guests whose
 * evidence holds, and what brokers are asked. Sessions and what is asked expire.
 */
export const releaseKeys = {
  partition: (domain: string) => `releases#${domain}`,
  run: (domain: string, runId: string): Key => ofReleases(domain, `run#${runId}`),
  session: (domain: string, session: string): Key => ofReleases(domain, `session#${session}`),
  /** The key of a part of the evidence of a session. An item has at most 400 KB. */
  evidence: (domain: string, session: string, part: number): Key => ofReleases(domain, `evidence#${session}#${part}`),
  ask: (domain: string, userId: string, id: string): Key => ofReleases(domain, `${releaseKeys.prefixes.asked(userId)}${id}`),
  prefixes: {
    run: 'run#',
    evidence: (session: string) => `evidence#${session}#`,
    asked: (userId: string) => `asked#${createHash('sha256').update(userId).digest('base64url')}#`,
  },
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
