import { createHash } from 'node:crypto';

/**
 * The keys of the table, without those of counted lists (packages/counted-list/keys.ts).
 * A list has its small rows in a partition, each at `row#<number>`. Membership, order and counts are in a counted list
 * (docs/adr/0001-lists.md).
 */

/**
 * A partition takes 1,000 write units per second, so items that all domains share are spread over this many by a hash of their
 * sort key.
 */
const shardCount = 8;

function shardsOf(place: string): string[] {
  return Array.from({ length: shardCount }, (_, shard) => `${place}#${shard}`);
}

/** @param by its sort key */
function shardOf(place: string, by: string): string {
  return `${place}#${hashByte(by) % shardCount}`;
}

function hashByte(by: string): number {
  const [byte = 0] = createHash('sha256').update(by).digest();
  return byte;
}

export interface AnyKey {
  pk: string;
  sk: string;
}

declare const writers: unique symbol;

/** Of an item that any file may write. An object that is put together is none: see `writableKey`. */
export interface Key extends AnyKey {
  readonly [writers]: 'any file';
}

/**
 * Of a row with a single writer. It is no Key, and works for reads only. Writes need `keyToWrite`, which lint allows only in
 * change-computation.ts, change-run.ts, claim.ts and change-asset.ts.
 */
export interface RowKey extends AnyKey {
  readonly [writers]: 'one file';
}

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

/** @throws TypeError for a row with a single writer */
export function writableKey(pk: string, sk: string): Key {
  if (hasSingleWriter(pk, sk)) throw new TypeError(`The row ${pk} ${sk} is written by its single writer only.`);
  return { pk, sk } as Key;
}

/** @throws TypeError for a row with a single writer */
export function keyOfItem({ pk, sk }: Record<string, unknown>): Key {
  return writableKey(String(pk), String(sk));
}

function rowKey(pk: string, sk: string): RowKey {
  return { pk, sk } as RowKey;
}

export function keyToWrite({ pk, sk }: RowKey): Key {
  return { pk, sk } as Key;
}

export interface List<Name extends ListName = ListName> {
  pk: `${Name}#${string}`;
}

type OpenList = List<Exclude<ListName, (typeof listsWithWriter)[number]>>;

const padded = (value: number, digits: number) => String(value).padStart(digits, '0');

export const lists = {
  computations: (domain: string): List<'computations'> => ({ pk: `${listNames.computations}#${domain}` }),
  /** Only its members are stored, not its rows. */
  ownedComputations: (domain: string): List<'owned'> => ({ pk: `${listNames.ownedComputations}#${domain}` }),
  assets: (domain: string): List<'assets'> => ({ pk: `${listNames.assets}#${domain}` }),
  runs: (domain: string): List<'runs'> => ({ pk: `${listNames.runs}#${domain}` }),
  linkedComputations: (assetId: string): List<'linked'> => ({ pk: `${listNames.linkedComputations}#${assetId}` }),
  /** Its rows only name the CVM. The CVM itself is at `cvmKeys.cvm`. */
  cvms: (domain: string): List<'cvms'> => ({ pk: `${listNames.cvms}#${domain}` }),
};

function keyOfRow(list: OpenList, number: number): Key;
function keyOfRow(list: List, number: number): RowKey;
function keyOfRow({ pk }: List, number: number): AnyKey {
  return rowKey(pk, rowPrefix + padded(number, 15));
}

export const listKeys = {
  /** In a partition of its own, because each create changes it. */
  counter: (list: List): Key => writableKey(`counter#${list.pk}`, 'counter'),
  row: keyOfRow,
  prefixes: { row: rowPrefix },
};

export const computationKeys = {
  partition: (computationId: string) => `computation#${computationId}`,
  /** Returns the identifier in the name of a computation's partition, or of its runs' (runKeys). */
  idIn: (partition: string) => partition.slice(partition.indexOf('#') + 1),
  config: (computationId: string): Key => writableKey(computationKeys.partition(computationId), 'part#config'),
  algorithm: (computationId: string): Key => writableKey(computationKeys.partition(computationId), 'part#algorithm'),
  /** Hashed, because a sort key has at most 1,024 bytes. */
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
  prefixes: { part: 'part#', dataset: 'part#dataset#', key: 'key#', approval: 'approval#' },
};

/** In a partition of its own, because few requests read it. */
export const approvedKeys = {
  partition: (computationId: string) => `approved#${computationId}`,
  approved: (computationId: string, userId: string): Key => writableKey(approvedKeys.partition(computationId), userId),
};

/**
 * What a user's list of open tasks is read from. The items mirror others: each is written and deleted in the same transaction as
 * the item that it mirrors, except that purges delete it.
 *   in#<computation>#owner            the user owns the computation
 *   in#<computation>#consumer         the computation names the user as a consumer
 *   in#<computation>#key              the user uploaded a key to it
 *   in#<computation>#asset#<asset>    an asset of the user is linked to it
 *   pending#<asset>                   the content of an asset of the user has not arrived
 * Computations and assets are their numbers.
 */
export const userKeys = {
  partition: (domain: string, userId: string) => `user#${domain}#${userId}`,
  /** @param isOwn whether the user created the computation */
  owner: (domain: string, userId: string, computation: number, isOwn: boolean): Key =>
    userKeys.part(domain, userId, isOwn ? 'own' : 'in', computation, 'owner'),
  consumer: (domain: string, userId: string, computation: number): Key =>
    userKeys.part(domain, userId, 'in', computation, 'consumer'),
  key: (domain: string, userId: string, computation: number): Key => userKeys.part(domain, userId, 'own', computation, 'key'),
  /** @param isOwn whether the user linked it */
  asset: (domain: string, userId: string, computation: number, asset: number, isOwn: boolean): Key =>
    userKeys.part(domain, userId, isOwn ? 'own' : 'in', computation, `asset#${padded(asset, 15)}`),
  /** What the user takes part in by their own doing is apart, so that nobody else can bury it. */
  part: (domain: string, userId: string, kind: 'own' | 'in', computation: number, as: string): Key =>
    writableKey(userKeys.partition(domain, userId), `${kind}#${padded(computation, 15)}#${as}`),
  pending: (domain: string, userId: string, asset: number): Key =>
    writableKey(userKeys.partition(domain, userId), `pending#${padded(asset, 15)}`),
  prefixes: { own: 'own#', in: 'in#', pending: 'pending#' },
};

export const journalKeys = {
  partition: (computationId: string) => `journal#${computationId}`,
  head: (computationId: string): Key => writableKey(journalKeys.partition(computationId), 'head'),
  latest: (computationId: string): Key => writableKey(journalKeys.partition(computationId), 'latest'),
  event: (computationId: string, number: number): Key =>
    writableKey(journalKeys.partition(computationId), `event#${padded(number, 12)}`),
  /** Sorted by the time of the last event, so that a query for a time range reads only its segments. */
  segment: (computationId: string, lastTimestamp: string, lastNumber: number): Key =>
    writableKey(journalKeys.partition(computationId), `segment#${lastTimestamp}#${padded(lastNumber, 12)}`),
  prefixes: { event: 'event#', segment: 'segment#' },
};

/** The agent's private key is a separate item, because it is deleted when the run ends. */
export const runKeys = {
  partition: (computationId: string) => `runs-of#${computationId}`,
  snapshot: (computationId: string, runId: string): Key => writableKey(runKeys.partition(computationId), `snapshot#${runId}`),
  serverKey: (computationId: string, runId: string): Key => writableKey(runKeys.partition(computationId), `server-key#${runId}`),
  report: (computationId: string, runId: string, reportId: string): Key =>
    writableKey(runKeys.partition(computationId), `report#${runId}#${reportId}`),
  /** Names the agent process that has the run, at `cvmKeys.process`. */
  attestation: (computationId: string, runId: string): Key =>
    writableKey(runKeys.partition(computationId), `attestation#${runId}`),
  evidence: (computationId: string, runId: string): Key => writableKey(runKeys.partition(computationId), `evidence#${runId}`),
  /** The purge uses it to find `assetKeys.use`. */
  use: (computationId: string, runId: string, assetId: string): Key =>
    writableKey(runKeys.partition(computationId), `use#${runId}#${assetId}`),
  nth: (computationId: string, among: string, ordinal: number): Key =>
    writableKey(runKeys.partition(computationId), `nth#${among}#${padded(ordinal, 9)}`),
  prefixes: { snapshot: 'snapshot#', serverKey: 'server-key#', report: 'report#', use: 'use#' },
};

/** Each gateway reads all of these twice a second. A run writes up to 10 units to its own. */
const pendingShardCount = 4;

interface CommandedRun {
  domain: string;
  cvm_id: string;
  run_id: string;
}

/** The sweep lists the claims of all domains. */
export const cvmKeys = {
  cvm: (domain: string, cvmId: string): Key => writableKey(`cvm#${domain}#${cvmId}`, 'cvm'),
  claimShards: shardsOf(claims),
  claim: (domain: string, cvmId: string): RowKey => rowKey(shardOf(claims, `${domain}#${cvmId}`), `${domain}#${cvmId}`),
  claimPrefix: (domain: string) => `${domain}#`,
  commands: (domain: string, cvmId: string) => `commands#${domain}#${cvmId}`,
  command: ({ domain, cvm_id, run_id }: CommandedRun, type: 'run' | 'stop'): Key =>
    writableKey(cvmKeys.commands(domain, cvm_id), `${run_id}#${type}`),
  /** Gateways read them to learn which CVMs have a command. */
  pendingShards: Array.from({ length: pendingShardCount }, (_, shard) => `pending-commands#${shard}`),
  pending: ({ domain, cvm_id, run_id }: CommandedRun, type: 'run' | 'stop'): Key =>
    writableKey(
      `pending-commands#${hashByte(`${domain}#${cvm_id}`) % pendingShardCount}`,
      `${domain}#${cvm_id}#${run_id}#${type}`,
    ),
  agent: (domain: string, cvmId: string): Key => writableKey(`agent#${domain}#${cvmId}`, 'agent'),
  process: (domain: string, cvmId: string, process: string): Key => writableKey(`agent#${domain}#${cvmId}`, `process#${process}`),
};

export const gatewayKeys = {
  partition: (gateway: string) => `gateway#${gateway}`,
  lease: (gateway: string): Key => writableKey(gatewayKeys.partition(gateway), 'lease'),
  name: (name: string): Key => writableKey(`gateway-name#${name}`, 'gateway'),
  message: (gateway: string, id: string): Key => writableKey(gatewayKeys.partition(gateway), `letter#${id}`),
  prefixes: { message: 'letter#' },
};

export const assetKeys = {
  uses: (assetId: string) => `uses#${assetId}`,
  use: (assetId: string, runId: string): Key => writableKey(assetKeys.uses(assetId), runId),
  contentReads: (assetId: string): Key => writableKey(`content-reads#${assetId}`, 'latest'),
};

/** Sorted by the time when they are due. */
export const contentCheckKeys = {
  shards: shardsOf('content-checks'),
  check: (dueAt: string, contentKey: string): Key => writableKey(shardOf('content-checks', contentKey), `${dueAt}#${contentKey}`),
  dueIn: (shard: string, now: string, from = '0'): [AnyKey, AnyKey] => [
    { pk: shard, sk: from },
    { pk: shard, sk: `${now}#` },
  ],
};

export const waitKeys = {
  slot: (endpoint: string, slot: number): Key => writableKey(`waits#${endpoint}`, `slot#${padded(slot, 4)}`),
};

/** Operators add them. */
export const collateralKeys = {
  partition: 'collateral',
  item: (hash: string): Key => writableKey(collateralKeys.partition, hash),
};

export const schemaKeys = {
  version: writableKey('schema', 'version'),
  roots: writableKey('schema', 'roots'),
};

export const answerKeys = {
  partition: (domain: string) => `answers#${domain}`,
  partitions: (domain: string) => shardsOf(answerKeys.partition(domain)),
  /** @param request its parts come from the user, so only their hash is stored */
  answer: (domain: string, request: readonly string[]): Key => {
    const hash = createHash('sha256').update(JSON.stringify(request)).digest('base64url');
    return writableKey(shardOf(answerKeys.partition(domain), hash), hash);
  },
};

/** By the time at which a gateway stored them. They expire. */
export const logKeys = {
  partition: (computationId: string) => `logs#${computationId}`,
  prefix: (runId: string) => `${runId}#`,
  chunk: (computationId: string, runId: string, at: number, part: string): Key =>
    writableKey(logKeys.partition(computationId), `${logKeys.prefix(runId)}${padded(at, 15)}#${part}`),
};

/**
 * A place for each name, word and checksum, with the number of the row, the newest first; and for each row what it is found by.
 */
export const findKeys = {
  partition: (domain: string, kind: string) => `find#${domain}#${kind}`,
  places: {
    name: (text: string) => `name#${text}`,
    word: (text: string) => `word#${text}`,
    checksum: (text: string) => `checksum#${text}`,
  },
  /** A tab sorts before all that a name may have. */
  place: (domain: string, kind: string, place: string, number: number): Key =>
    writableKey(findKeys.partition(domain, kind), `${place}\t${padded(Number.MAX_SAFE_INTEGER - number, 16)}`),
  partsOf: (sk: string): { place: string | undefined; number: number } => {
    const [place, number] = sk.split('\t');
    return number === undefined ? { place: undefined, number: NaN } : { place, number: Number.MAX_SAFE_INTEGER - Number(number) };
  },
  known: (domain: string, kind: string, number: number): Key =>
    writableKey(findKeys.partition(domain, kind), `of#${padded(number, 15)}`),
};

export const sweepKeys = {
  state: writableKey('sweep', 'state'),
};

/** They expire. */
export const limitKeys = {
  changes: (domain: string): Key => writableKey(`limit#${domain}`, 'changes'),
};

export const purgeKeys = {
  shards: shardsOf('purges'),
  prefixes: { asset: 'asset#', computation: 'computation#' },
  purge: (kind: 'computation' | 'asset', id: string): Key => writableKey(shardOf('purges', id), `${kind}#${id}`),
};
