import { cvmKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Table } from '../table/table.ts';
import { storedCvm } from './cvm.ts';

/** Returns the fingerprint of the certificate that a CVM is registered with. Undefined if it is not registered, or without one. */
export async function readRegisteredCertificate(
  table: Table,
  { domain, cvmId }: { domain: string; cvmId: string },
): Promise<string | undefined> {
  const item = await getItem(table, cvmKeys.cvm(domain, cvmId));
  return (item && parseStored(storedCvm, item, 'registered CVM').certificate_fingerprint) ?? undefined;
}
