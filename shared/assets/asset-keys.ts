import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { attestationPolicyInput, platformsWithGuest, withoutGuest } from 'computation-management-formats/attestation';
import { described, isBase64, orNull, namedObject, namedInput, returnedField } from 'computation-management-formats/fields';
import { laterOf, timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import type { Permitted } from '../http/caller.ts';
import { type StoredAsset, changeAsset, assetKey, parseAsset, readAssetToChange } from '../rows/asset.ts';
import { type AssetKey, assetKeyOfRow, parseTotals, pathOfKey, setSecret } from '../rows/asset-key.ts';
import { parseDefinition } from '../rows/definition.ts';
import { readLinkedIds } from '../rows/link.ts';
import type { SealKey } from '../rows/sealed-key.ts';
import { conflict, notFound, resultConflict } from '../runtime/errors.ts';
import { assetKeys, computationKeys } from '../table/keys.ts';
import { getItem, getItems, type Table } from '../table/table.ts';
import { type AnsweredRequest, commitChange, Transaction, withFreshReads } from '../table/transaction.ts';
import { changeInputsLater, changeInputsOfLinked, completeChangeOfLinked } from './linked-computations.ts';
import { withoutContent } from './given-content.ts';

const keyBytes = 32;
const expectedKey = `Expected ${keyBytes} bytes in base64.`;
const expectedFingerprint = 'Expected 64 hex digits in lower case.';
const expectedPlatforms = `Expected only ${platformsWithGuest.join(', ')}: the evidence of others names no guest, so that no key is released to them.`;

const releasePolicy = v.optional(
  orNull(
    v.pipe(
      attestationPolicyInput,
      v.forward(
        v.check((policy) => withoutGuest(policy).length === 0, expectedPlatforms),
        ['platforms'],
      ),
    ),
    'Which CVMs may get the key, beside the policy of the computation. If omitted, it stays the same. null: the policy of the ' +
      'computation decides alone.',
  ),
);

const returned = { number: returnedField, releases: returnedField, last_released_at: returnedField };

export const assetKeyInput = v.pipe(
  v.variant(
    'held',
    [
      namedInput('KeyHeldByService', 'A key that the service holds.', {
        held: described(v.literal('service'), 'Says that the service holds the key. Its operator can open it.'),
        key: v.pipe(
          v.string(expectedKey),
          v.check((text) => isBase64(text) && Buffer.from(text, 'base64').length === keyBytes, expectedKey),
          v.description(`The key of AES-256-GCM that decrypts the file: ${keyBytes} bytes in base64. Never returned.`),
          v.metadata({ minLength: 44, maxLength: 44 }),
        ),
        release_policy: releasePolicy,
        fingerprint: returnedField,
        ...returned,
      }),
      namedInput('KeyHeldByParty', 'A key that its owner holds.', {
        held: described(v.literal('party'), 'Says that you hold the key, with a broker. The service never has it.'),
        fingerprint: v.pipe(
          v.string(expectedFingerprint),
          v.regex(/^[0-9a-f]{64}$/, expectedFingerprint),
          v.description('The SHA-256 of the key in hex.'),
          v.metadata({ maxLength: 64 }),
        ),
        release_policy: releasePolicy,
        ...returned,
      }),
    ],
    'Expected "service" or "party".',
  ),
  v.title('AssetKeyInput'),
  v.description('The key of an encrypted file.'),
);
export type AssetKeyInput = v.InferOutput<typeof assetKeyInput>;

export const assetKeySchema = namedObject('AssetKey', 'The key of an encrypted file, without the key itself.', {
  number: described(assetKeyOfRow.entries.number, 'The number of the key, from 1. It grows with each other key.'),
  fingerprint: assetKeyOfRow.entries.fingerprint,
  held: assetKeyOfRow.entries.held,
  release_policy: assetKeyOfRow.entries.release_policy,
  releases: described(v.number(), 'How often keys of the asset were released.'),
  last_released_at: orNull(timestamp, 'The time of the last release. null: none.'),
});

interface KeyRequest extends AnsweredRequest {
  id: string;
  now: string;
  permit: (asset: StoredAsset) => Permitted;
}

interface SetRequest extends KeyRequest {
  given: AssetKeyInput;
  /** The address at which CVMs find the key broker of the domain: the service's base URL and the domain. */
  brokerUrl: string;
  seal: SealKey;
}

/**
 * Gives an asset a key, or changes who holds it or which CVMs may get it. The first key sets the asset's key broker and the path of its key;
 * others change no manifest. Every linked computation gets a new version before this returns.
 * @throws ServiceError `not_found`; `forbidden`; `conflict` if the asset has no checksum yet, or no policy says which CVMs may get the key
 */
export async function setAssetKey(table: Table, { domain, id, given, brokerUrl, seal, now, permit, answerKeeper }: SetRequest) {
  return await changingLinked(table, { domain, id, now }, async (table, transaction) => {
    const [asset, item] = await Promise.all([readAssetToChange(table, domain, id), getItem(table, assetKeys.key(id))]);
    const permitted = permit(asset);
    if (asset.result_of) throw resultConflict('has no key');
    const { key: before, former_key } = asset;
    const fingerprint = given.held === 'party' ? given.fingerprint : fingerprintOf(given.key);
    const { release_policy = before?.release_policy ?? null } = given;
    const last = before ?? former_key ?? undefined;
    const number = last === undefined ? 1 : last.number + (last.fingerprint === fingerprint ? 0 : 1);
    const key: AssetKey = { number, fingerprint, held: given.held, release_policy };
    if (release_policy === null) await refuseWithoutPolicy(table, id);
    const described = { key: { ...key, ...parseTotals(item) }, permitted };
    if (isDeepStrictEqual(before, key)) {
      return { asset, result: await commitChange(table, transaction, described, answerKeeper) };
    }
    const isSame = before?.held === given.held && before.fingerprint === fingerprint;
    const secret = given.held === 'service' && !isSame ? await seal({ owner: { asset: id }, plain: given.key }) : '';
    const updated_at = laterOf(asset.updated_at, now);
    const moved = before ? {} : withBroker(asset, brokerUrl, updated_at);
    changeAsset(transaction, domain, asset, { key, former_key: null, updated_at, ...moved });
    if (!isSame) transaction.add(setSecret(id, secret, fingerprint));
    const later = await changeInputsOfLinked(table, transaction, domain, id);
    return { asset, later, result: await commitChange(table, transaction, described, answerKeeper) };
  });
}

/**
 * Removes the key of an asset. Active runs keep theirs. No run starts with the asset until it has a key again. Does nothing if there is none.
 * @throws ServiceError `not_found`; `forbidden`
 */
export async function removeAssetKey(table: Table, { domain, id, now, permit, answerKeeper }: KeyRequest) {
  return await changingLinked(table, { domain, id, now }, async (table, transaction) => {
    const asset = await readAssetToChange(table, domain, id);
    const permitted = permit(asset);
    const { key } = asset;
    if (key === null) return { asset, result: await commitChange(table, transaction, { permitted }, answerKeeper) };
    const { number, fingerprint } = key;
    const updated_at = laterOf(asset.updated_at, now);
    changeAsset(transaction, domain, asset, { key: null, former_key: { number, fingerprint }, updated_at });
    transaction.add(setSecret(id, '', fingerprint));
    const later = await changeInputsOfLinked(table, transaction, domain, id);
    return { asset, later, result: await commitChange(table, transaction, { permitted }, answerKeeper) };
  });
}

/**
 * Returns the key of an asset without the secret. One round trip.
 * @throws ServiceError `not_found` if there is no asset, or it has no key; `forbidden`
 */
export async function readAssetKey(table: Table, { domain, id, permit }: Pick<KeyRequest, 'domain' | 'id' | 'permit'>) {
  const [row, item] = await getItems(table, [assetKey(domain, id), assetKeys.key(id)]);
  const asset = parseAsset(row, id);
  const permitted = permit(asset);
  if (asset.key === null) throw notFound('key of this asset');
  return { key: { ...asset.key, ...parseTotals(item) }, permitted };
}

interface ChangedLinked<T> {
  asset: StoredAsset;
  /** The linked computations whose versions did not fit into the transaction. Undefined if nothing was changed. */
  later?: string[];
  result: T;
}

/**
 * Changes an asset, and gives those of its linked computations a new version whose version did not fit into the transaction. A request that
 * changes nothing completes what an earlier one may have left.
 */
async function changingLinked<T>(
  table: Table,
  { domain, id, now }: Pick<KeyRequest, 'domain' | 'id' | 'now'>,
  change: (table: Table, transaction: Transaction) => Promise<ChangedLinked<T>>,
): Promise<T> {
  const { asset, later, result } = await withFreshReads(table, (table) => change(table, new Transaction()));
  if (later) await changeInputsLater(table, domain, later);
  else await completeChangeOfLinked(table, { domain, assetId: id }, { changedAt: asset.updated_at, now });
  return result;
}

function fingerprintOf(key: string): string {
  return createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex');
}

/**
 * Returns the fields of an asset that change with its first key: agents then ask the service for the key. Encrypted content in storage
 * stays. Without it, and without an address in its source, a party sends the encrypted file to the agent.
 * @param url the address at which the service gives keys to agents
 * @param at the time of the change, RFC 3339
 * @throws ServiceError `conflict` if the checksum of the plain file is not known
 */
function withBroker(asset: StoredAsset, url: string, at: string): Partial<StoredAsset> {
  const source = { ...asset.source, kbs_resource_path: pathOfKey(asset.id) };
  const kbs = { url };
  if (asset.checksum === null) {
    throw conflict(
      'no_checksum',
      'The asset has no checksum, by which the agent verifies the decrypted file. Set it first, or upload the content.',
    );
  }
  const names = (['source', 'kbs'] as const).filter((name) => !isDeepStrictEqual(asset[name], { source, kbs }[name]));
  if (names.length === 0) return {};
  const changed_at = { ...asset.changed_at, ...Object.fromEntries(names.map((name) => [name, at])) };
  return { source, kbs, changed_at, ...(asset.content_key === null ? withoutContent : {}) };
}

/** The most linked computations whose policies are looked for. */
const mostLinked = 100;

/**
 * Throws if nothing says which CVMs may get the key of an asset: no release policy is given, and of the first 100 computations that
 * the asset is linked to, none has an attestation policy whose platforms can get keys. Two round trips.
 * @throws ServiceError `conflict`
 */
async function refuseWithoutPolicy(table: Table, id: string): Promise<void> {
  const ids = await readLinkedIds(table, id, { limit: mostLinked });
  const items = await getItems(table, ids.map(computationKeys.config));
  const policies = items.flatMap((item) => (item ? (parseDefinition([item]).attestation_policy ?? []) : []));
  if (policies.some((policy) => withoutGuest(policy).length === 0)) return;
  const [policy] = policies;
  const found = policy
    ? `The policy of its computation allows ${withoutGuest(policy).join(', ')}, whose evidence names no guest.`
    : 'Nothing says which CVMs may get the key.';
  throw conflict(
    'no_release_policy',
    `${found} Send a release_policy, or give the computation an attestation_policy, with ${platformsWithGuest.join(', ')} alone.`,
  );
}
