import { randomBytes } from 'node:crypto';
import type { Kms } from '../runtime/clients.ts';
import { secretKeys } from '../table/keys.ts';
import { type Table, getItem } from '../table/table.ts';
import { putItemIf } from '../table/writes.ts';
import { openKey, sealedKeyAttributes, sealKey, storedKeyOf } from './sealed-key.ts';

/** The secrets that the service makes for itself: by the first it knows its nonces, by the second its links to unsubscribe. */
export type SecretName = 'challenges' | 'unsubscribe';

let known: { of: Table['document']; secrets: Map<SecretName, Buffer> } | undefined;

/** Reads a secret of the service, 32 bytes. The first call of a process reads it, the very first makes it. */
export async function readServiceSecret(table: Table, kms: Kms, name: SecretName): Promise<Buffer> {
  if (known?.of !== table.document) known = { of: table.document, secrets: new Map() };
  const { secrets } = known;
  const before = secrets.get(name);
  if (before) return before;
  const owner = { secret: name };
  const key = secretKeys.secret(name);
  let stored = storedKeyOf(await getItem(table, key));
  if (stored === '') {
    const made = await sealKey(kms, { owner, plain: randomBytes(32).toString('base64') });
    if (made === '') throw new Error('A secret of 32 bytes was not encrypted.');
    await putItemIf(table, { ...key, ...sealedKeyAttributes(made) }, { ConditionExpression: 'attribute_not_exists(pk)' });
    stored = storedKeyOf(await getItem(table, key));
  }
  const secret = Buffer.from(await openKey(kms, owner, stored), 'base64');
  if (secret.length !== 32) throw new Error(`The secret ${name} of the service is not stored.`);
  secrets.set(name, secret);
  return secret;
}
