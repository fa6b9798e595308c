import { cvmKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { setAttributes } from '../table/set-attributes.ts';
import { getItem, updateExisting, type Item, type Table } from '../table/table.ts';
import { storedCvm } from './cvm.ts';

interface Place {
  domain: string;
  cvmId: string;
}

/** Returns the fingerprint of the certificate that a CVM is registered with. Undefined if it is not registered, or without one. */
export async function readRegisteredCertificate(table: Table, { domain, cvmId }: Place): Promise<string | undefined> {
  return certificateIn(await getItem(table, cvmKeys.cvm(domain, cvmId)));
}

/**
 * Notes that a CVM is connected, if it is registered. Costs one write unit.
 * @returns the fingerprint of its certificate, as readRegisteredCertificate
 */
export async function noteConnected(table: Table, { domain, cvmId }: Place, now: string): Promise<string | undefined> {
  return certificateIn(await updateExisting(table, cvmKeys.cvm(domain, cvmId), setAttributes({ last_seen_at: now })));
}

function certificateIn(item: Item | undefined): string | undefined {
  return (item && parseStored(storedCvm, item, 'registered CVM').certificate_fingerprint) ?? undefined;
}
