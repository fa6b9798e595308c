import * as v from 'valibot';
import { arrayOf, described, namedObject, orNull, shownDescription, shownText } from 'computation-management-formats/fields';
import { idOfAsset, numberOf } from 'computation-management-formats/identifiers';
import { fetchedOrNone } from 'computation-management-formats/source';
import { createdAt, timestamp, updatedAt } from 'computation-management-formats/timestamps';
import { assetTypes, shownAssetTypes, type AssetType, resultType } from 'computation-management-formats/vocabulary';
import { assetKeyOfRow } from './asset-key.ts';
import { ServiceError, notFound, orNotFound } from '../runtime/errors.ts';
import { type Table, getItem, type Item, getItemsOf } from '../table/table.ts';
import { listKeys, lists, type RowKey, assetKeys, keyToWrite, purgeKeys } from '../table/keys.ts';
import { parseStored, schemaAttribute } from '../table/stored.ts';
import { readSettled, type Action, Transaction, StaleReadError, withFreshReads } from '../table/transaction.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { hasAttributes, isAbsent, setAttributesIf } from '../table/writes.ts';

export const contentAccess = described(
  v.picklist(['creator', 'domain']),
  'Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.',
);

/** The values of `use`, which says whether a run with the asset needs its creator's approval. */
export const assetUses = ['open', 'approval'] as const;
export type AssetUse = (typeof assetUses)[number];
export const assetUse = described(
  v.picklist(assetUses),
  'Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.',
);

/**
 * The largest content, in bytes, that a request or an answer has inline in `asset` (docs/contract.md, section 7). Larger content
 * takes a presigned request.
 */
export const inlineLimitInBytes = 4 * 1024 * 1024;

/** Returns the error for content of an asset that is too large to be inline in a request or an answer. */
export function contentTooLarge(size: number): ServiceError {
  const sentence = `The content has ${size} bytes, inline at most ${inlineLimitInBytes}. Create an asset without \`asset\`: its presigned \`upload\` takes more.`;
  return new ServiceError('too_large', sentence);
}

/** The most characters of an asset's inline content in base64, which encode 4 MiB. */
export const longestInlineText = Math.ceil(inlineLimitInBytes / 3) * 4;

export const assetType = described(v.picklist(assetTypes), 'Whether the asset is an algorithm or a dataset.');

export const shownAssetType = described(
  v.picklist(shownAssetTypes),
  'Whether the asset is an algorithm, a dataset, or the result of a run under review. You can send the first two.',
);

const rowEntries = {
  id: idOfAsset,
  file_name: shownText(255, 'The name of the file.'),
  description: shownDescription,
  asset_type: shownAssetType,
  mime_type: shownText(255, 'The media type of the content. Empty if it is not known.'),
  state: described(
    v.picklist(['pending', 'ready']),
    '`pending` until the content has arrived and the service has hashed it. An asset with `source` is `ready`.',
  ),
  size: orNull(
    v.pipe(v.number(), v.integer()),
    'The size of the content in bytes. 0 while the asset is pending. null if the agent fetches it from `source`.',
  ),
  checksum: orNull(shownText(64), 'The SHA3-256 in hex. The agent verifies it. null until it is known.'),
  content_access: contentAccess,
  use: assetUse,
  ...fetchedOrNone,
  created_by: shownText(255, 'The creator of the asset, the `sub` of a user.'),
  created_at: createdAt,
  updated_at: updatedAt,
};

/** Schema of an asset in a list, without content and key. */
export const assetRow = namedObject('AssetRow', 'An asset in a list, without its content and key.', rowEntries);

/** Schema of the row of an asset, as it is stored: the fields of a list entry, its key, and where its content is. */
export const storedAsset = v.object({
  ...rowEntries,
  user_key: v.string(),
  /** The key in storage of the content of an asset. Null while the content has not arrived. */
  content_key: v.nullable(v.string()),
  /**
   * The SHA3-256 of the stored content of an asset. It differs from `checksum` if `checksum` was declared for a real file that
   * is not stored.
   */
  content_checksum: v.nullable(v.string()),
  /** The key in storage at which the upload of an asset's content is expected. Null if no upload is expected. */
  upload_key: v.nullable(v.string()),
  /**
   * The key in storage of an asset's content that was uploaded but that storage could not give back. The service tries again to
   * read it, and expects another upload meanwhile.
   */
  unread_key: v.optional(v.nullable(v.string())),
  /**
   * The text that tells the creator of an asset why the last upload of content could not be taken. Kept until the creator gets a
   * new link.
   */
  upload_problem: v.optional(v.nullable(v.string())),
  /** The key that decrypts the content of an asset, without the secret (`assetKeys.key`). Null: none. */
  key: v.nullable(assetKeyOfRow),
  /** The last key of an asset whose key was removed, by which the number of the next one is known. */
  former_key: v.optional(v.nullable(v.pick(assetKeyOfRow, ['number', 'fingerprint']))),
  /** The time until which no run starts with the asset, because it is being deleted. Null otherwise. */
  closing_until: v.nullable(v.string()),
  version: v.number(),
  /** The run whose result the asset is, and the users who may read it beside its creator. Undefined for other assets. */
  result_of: v.optional(
    v.object({ computation_id: v.string(), run_id: v.string(), size: v.number(), readers: v.array(v.string()) }),
  ),
  /**
   * The times of the last changes of the file name and of what a manifest has of an asset, by field. Without a field that has not changed
   * since the asset was created.
   */
  changed_at: v.optional(v.record(v.string(), v.string())),
  /** The user who last changed the file name: its creator or an administrator. */
  renamed_by: v.optional(v.string()),
});
export type StoredAsset = v.InferOutput<typeof storedAsset>;

/**
 * Returns whether the user may not read the content of the asset, because another user created the asset and keeps its content
 * to themselves. A result is read by its reviewers and, after its release, by its consumers.
 */
export function isContentWithheld({ created_by, content_access, result_of }: StoredAsset, user: string): boolean {
  return user !== created_by && content_access !== 'domain' && result_of?.readers.includes(user) !== true; // defence
}

const contentRead = namedObject('ContentRead', 'A read of the content by another user than the creator of the asset.', {
  user: shownText(255, 'The user who read the content.'),
  read_at: described(timestamp, 'The time of the read.'),
});
export type ContentRead = v.InferOutput<typeof contentRead>;

/**
 * The longest presigned URL for content of an asset, in characters. Its query contains the file name and the session token of
 * the function that made it.
 */
const longestLink = 16 * 1024;

const link = {
  url: v.pipe(v.string(), v.url(), v.description('The URL of the presigned request.'), v.metadata({ maxLength: longestLink })),
  expires_at: described(timestamp, 'The time until which storage accepts the request.'),
};

export const assetDownload = namedObject('AssetDownload', 'A presigned request for content.', link);

const assetUpload = namedObject(
  'AssetUpload',
  'A presigned request with which the creator uploads the content of a pending asset. Send the headers in `headers`. You can ' +
    'also send any `content-type`. The content is the bytes as you send them, whatever `content-encoding` says.',
  {
    method: described(v.literal('PUT'), 'The method of the presigned request.'),
    headers: described(v.record(shownText(64), shownText(255)), 'The headers to send, by name.'),
    ...link,
    problem: v.optional(
      shownText(500, 'Why the content that was uploaded last could not be taken. Upload it again. Only in answers of `GET`.'),
    ),
  },
);

export const assetSchema = namedObject(
  'Asset',
  'An algorithm or a dataset. The content is in `asset` or behind `download`, if you may read it.',
  {
    ...assetRow.entries,
    user_key: shownText(16 * 1024, "The provider's public key as DER SubjectPublicKeyInfo, base64. Empty if there is none."),
    asset: v.optional(shownText(longestInlineText, 'The content in base64, up to 4 MiB decoded.')),
    download: v.optional(assetDownload),
    upload: v.optional(assetUpload),
    content_withheld: v.optional(
      described(
        v.literal(true),
        '`true` if the content is withheld because only the creator of the asset may read it. Absent otherwise.',
      ),
    ),
    content_reads: v.optional(
      arrayOf(
        contentRead,
        100,
        'The latest 100 reads of the content by others, newest first. Returned to the creator of the asset.',
      ),
    ),
  },
);
export type Asset = v.InferOutput<typeof assetSchema>;

/**
 * Returns the key of an asset's row.
 * @throws ServiceError `not_found` if this service cannot have issued the identifier
 */
export function assetKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.assets(domain), orNotFound(numberOf(id), 'asset'));
}

/** Parses the row of the asset with this identifier. Returns undefined if the row is missing or belongs to another asset. */
export function findAsset(item: Item | undefined, id: string): StoredAsset | undefined {
  return item?.['id'] === id ? parseStored(storedAsset, item, 'asset') : undefined;
}

/**
 * Parses the row of the asset with this identifier.
 * @throws ServiceError `not_found` if the row is missing or belongs to another asset
 */
export function parseAsset(item: Item | undefined, id: string): StoredAsset {
  return orNotFound(findAsset(item, id), 'asset');
}

/**
 * Reads an asset to change it. No item that is read afterwards is older than its row.
 * @throws ServiceError `not_found` if there is no such asset
 */
export async function readAssetToChange(table: Table, domain: string, id: string): Promise<StoredAsset> {
  const [item] = await readSettled(table, [assetKey(domain, id)]);
  return parseAsset(item, id);
}

/**
 * Reads the row of an asset, strongly consistent.
 * @throws ServiceError `not_found` if there is no such asset
 */
export async function readAsset(table: Table, domain: string, id: string): Promise<StoredAsset> {
  return parseAsset(await getItem(table, assetKey(domain, id)), id);
}

/** Adds a new asset to the transaction, with its entry in the list of assets. */
export function addAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Item = { ...keyToWrite(assetKey(domain, asset.id)), ...schemaAttribute, ...asset };
  transaction.add({ put: { Item, ...isAbsent } });
  recordInList(transaction, domain, asset, { now: asset });
}

/**
 * Adds the change of an asset to the transaction, with its list entry. Increments the version of the asset. The transaction fails
 * with StaleReadError if the asset has changed since it was read.
 * @returns the asset after the change
 */
export function changeAsset(
  transaction: Transaction,
  domain: string,
  asset: StoredAsset,
  change: Partial<Omit<StoredAsset, 'id' | 'version'>>,
): StoredAsset {
  const changes = { ...change, version: asset.version + 1 };
  const next = { ...asset, ...changes };
  const update = { ...setAttributesIf(unchanged(asset), changes), Key: keyToWrite(assetKey(domain, asset.id)) };
  transaction.add({ update, otherwise: StaleReadError });
  if (asset.asset_type !== next.asset_type) {
    recordInList(transaction, domain, next, { before: asset, now: next });
  }
  return next;
}

/**
 * Adds the deletion of an asset to the transaction, with its list entry. The transaction fails with StaleReadError if the asset
 * has changed since it was read.
 */
export function removeAsset(transaction: Transaction, domain: string, asset: StoredAsset): void {
  const Key = keyToWrite(assetKey(domain, asset.id));
  transaction.add({ delete: { Key, ...unchanged(asset) }, otherwise: StaleReadError });
  recordInList(transaction, domain, { ...asset, version: asset.version + 1 }, { before: asset });
}

/**
 * Adds the deletion of an asset to the transaction, as `removeAsset` does, with that of its key and the record of what its purge
 * does afterwards.
 * @param by the user who deletes it
 * @returns the record
 */
export function deleteAssetIn(transaction: Transaction, domain: string, asset: StoredAsset, by: string) {
  const { id, file_name, asset_type, content_key, upload_key, unread_key = null } = asset;
  const purge = { domain, id, file_name, asset_type, content_key, upload_key, unread_key, by };
  removeAsset(transaction, domain, asset);
  if (asset.key ?? asset.former_key) transaction.add({ delete: { Key: assetKeys.key(id) } });
  transaction.add({ put: { Item: { ...purgeKeys.purge('asset', id), ...purge } } });
  return purge;
}

/** Returns a check for a transaction, which then fails with ServiceError `not_found` if the asset does not exist. */
export function assertAssetExists(domain: string, id: string): Action {
  return { check: { Key: keyToWrite(assetKey(domain, id)), ...hasAttributes({ id }) }, otherwise: notFound('asset') };
}

function recordInList(
  transaction: Transaction,
  domain: string,
  { id, version }: StoredAsset,
  { before, now }: { before?: StoredAsset; now?: StoredAsset },
): void {
  const member = { number: orNotFound(numberOf(id), 'asset'), version };
  if ((before ?? now)?.asset_type === resultType) {
    recordMember(transaction, rowLists.results(domain), { ...member, before: before && 'all', now: now && 'all' });
  } else {
    const typeOf = (asset: StoredAsset | undefined) => asset?.asset_type as AssetType | undefined;
    recordMember(transaction, rowLists.assets(domain), { ...member, before: typeOf(before), now: typeOf(now) });
  }
}

function unchanged({ id, version }: StoredAsset) {
  return hasAttributes({ id, version });
}

/** The lifetime in seconds of the mark on an asset that says that it is being deleted. It is longer than a deletion takes. */
const secondsToDelete = 30;

/** Tells whether an asset is being deleted, by the mark that a deletion sets. No run starts with the asset meanwhile. */
export function isMarkedForDeletion({ closing_until }: StoredAsset, now: string): boolean {
  return closing_until !== null && closing_until > now;
}

/**
 * Marks an asset as being deleted. A run removes the mark before it is offered to its CVM. So the deletion finds the run, or the
 * run finds the asset deleted, or the deletion fails and looks again (docs/adr/0003-lifecycle.md).
 * @returns the asset with the mark
 */
export async function markForDeletion(table: Table, domain: string, asset: StoredAsset, now: string): Promise<StoredAsset> {
  const closing_until = new Date(Date.parse(now) + secondsToDelete * 1000).toISOString();
  return await setMark(table, domain, asset, closing_until);
}

/** Removes the mark that a failed deletion of an asset has set on it, unless another deletion has set a new mark. */
export async function removeDeletionMark(table: Table, domain: string, { id, closing_until }: StoredAsset): Promise<void> {
  await withFreshReads(table, async (table) => {
    const asset = await readAssetToChange(table, domain, id);
    if (asset.closing_until === closing_until) await setMark(table, domain, asset, null);
  });
}

/**
 * Removes the deletion marks of the assets of an active run, so that they are not deleted until the run ends. One round trip, and
 * one for each mark.
 * @returns the identifiers of the assets that are deleted already
 * @throws StaleReadError
 */
export async function cancelDeletions(table: Table, domain: string, ids: readonly string[]): Promise<string[]> {
  const items = await getItemsOf(table, ids, (id) => assetKey(domain, id));
  const deleted: string[] = [];
  for (const [index, id] of ids.entries()) {
    const asset = findAsset(items[index], id);
    if (!asset) deleted.push(id);
    else if (asset.closing_until !== null) await setMark(table, domain, asset, null);
  }
  return deleted;
}

async function setMark(table: Table, domain: string, asset: StoredAsset, closing_until: string | null): Promise<StoredAsset> {
  const transaction = new Transaction();
  const changed = changeAsset(transaction, domain, asset, { closing_until });
  await transaction.commit(table);
  return changed;
}
