import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { openKey, sealKey, readServiceSecret } from '../rows/sealed-key.ts';
import type { Kms } from '../runtime/clients.ts';
import { ServiceError } from '../runtime/errors.ts';
import { mailKeys } from '../table/keys.ts';
import { hashOfUser } from '../table/row-lists.ts';
import { parseStored } from '../table/stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { type UserRequest, commitChange, type Committed, Transaction } from '../table/transaction.ts';
import { deleteItems } from '../table/writes.ts';

const storedWish = v.object({
  user_id: v.string(),
  /** The address of the user, encrypted as `sealKey` returns it. */
  address: v.string(),
});

const ownerOf = (domain: string, userHash: string) => ({ secret: `address of ${userHash} in ${domain}` });

/**
 * Turns mail to a user of a domain on or off. One write. The address is encrypted; without mail, nothing of the user is kept.
 * @param address where the user gets mail; undefined turns mail off
 */
export async function setMail(
  table: Table,
  kms: Kms,
  { domain, by, address, answerKeeper }: Pick<UserRequest, 'domain' | 'by' | 'answerKeeper'> & { address: string | undefined },
): Promise<Committed<{ email: boolean }>> {
  const hash = hashOfUser(by);
  const Key = mailKeys.wish(domain, hash);
  const transaction = new Transaction();
  if (address === undefined) transaction.add({ delete: { Key } });
  else {
    const sealed = await sealKey(kms, { owner: ownerOf(domain, hash), plain: address });
    if (sealed === '') throw new TypeError('There is no address.');
    transaction.add({ put: { Item: { ...Key, user_id: by, address: sealed.sealed } } });
  }
  return await commitChange(table, transaction, { email: address !== undefined }, answerKeeper);
}

/** Ends mail to a user who has left a domain. */
export async function endMail(table: Table, domain: string, userId: string): Promise<void> {
  await deleteItems(table, [mailKeys.wish(domain, hashOfUser(userId))]);
}

/** Tells whether a user of a domain gets mail. One read. */
export async function getsMail(table: Table, { domain, userId }: { domain: string; userId: string }): Promise<boolean> {
  return (await getItem(table, mailKeys.wish(domain, hashOfUser(userId)))) !== undefined;
}

/** Returns who gets mail, from a stored wish, with a function that decrypts the address. */
export function recipientIn(item: Item, domain: string): { userId: string; openAddress: (kms: Kms) => Promise<string> } {
  const { user_id, address } = parseStored(storedWish, item, 'wish for mail');
  const owner = ownerOf(domain, hashOfUser(user_id));
  return { userId: user_id, openAddress: (kms) => openKey(kms, owner, { digest: '', sealed: address }) };
}

/** Returns the secret in the link with which mail to a user of a domain ends. It is the same in each mail. */
export async function unsubscribeSecret(table: Table, kms: Kms, domain: string, userHash: string): Promise<string> {
  const of = `${domain}.${userHash}`;
  return `${of}.${await codeOf(table, kms, of)}`;
}

async function codeOf(table: Table, kms: Kms, of: string): Promise<string> {
  return createHmac('sha256', await readServiceSecret(table, kms, 'unsubscribe'))
    .update(of)
    .digest('base64url');
}

/**
 * Ends mail to the user of a domain whom the secret of a link names. Also succeeds if the user gets none.
 * @throws ServiceError `not_found` if the service has not made the secret
 */
export async function unsubscribe(table: Table, kms: Kms, secret: string): Promise<void> {
  const [, domain, userHash, code] = /^([\w-]{1,64})\.([\w-]{12})\.([\w-]{43})$/.exec(secret) ?? [];
  if (domain === undefined || userHash === undefined || code === undefined) throw unknownSecret();
  const expected = await codeOf(table, kms, `${domain}.${userHash}`);
  if (!timingSafeEqual(Buffer.from(code), Buffer.from(expected))) throw unknownSecret(); // defence
  await deleteItems(table, [mailKeys.wish(domain, userHash)]);
}

function unknownSecret(): ServiceError {
  return new ServiceError('not_found', 'This is no link of a mail from this service.');
}

/** Returns the page of a link to unsubscribe. A program that only follows links changes nothing. */
export const unsubscribePage = () => `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>Unsubscribe</title>
<h1>Unsubscribe</h1>
<p>Do you want no more mail about your tasks in this domain?</p>
<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>
</html>
`;
