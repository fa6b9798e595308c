import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noteConnected, readRegisteredCertificate } from '../../../shared/cvms/registered-certificate.ts';
import { readCvm } from '../../../shared/cvms/read-cvm.ts';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { cvm, cvmBody } from '../../../shared/endpoints/samples.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { byAlice } from '../../support/builders-store.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
});
afterAll(() => embedded.stop());

const domain = 'd1';
const later = new Date(Date.parse(byAlice.now) + 1_000).toISOString();
const register = (cvmId: string, certificate?: string) => {
  const given = { description: '', ...(certificate === undefined ? {} : { certificate }) };
  return registerCvm(embedded.table, { domain, cvmId, given, now: byAlice.now });
};

describe('the certificate that a CVM is registered with', () => {
  it('is known by its fingerprint, and is undefined without one or without the CVM', async () => {
    await register('with', cvmBody.certificate);
    await register('without');
    for (const read of [
      readRegisteredCertificate,
      (...[table, place]: Parameters<typeof readRegisteredCertificate>) => noteConnected(table, place, later),
    ]) {
      expect(await read(embedded.table, { domain, cvmId: 'with' })).toBe(cvm.certificate_fingerprint);
      expect(await read(embedded.table, { domain, cvmId: 'without' })).toBeUndefined();
      expect(await read(embedded.table, { domain, cvmId: 'unknown' })).toBeUndefined();
    }
  });
});

describe('noteConnected', () => {
  it('notes the time of a registered CVM, and adds no other CVM', async () => {
    await register('seen');
    await noteConnected(embedded.table, { domain, cvmId: 'seen' }, later);
    await noteConnected(embedded.table, { domain, cvmId: 'stranger' }, later);
    expect((await readCvm(embedded.table, { domain, cvmId: 'seen' }, later)).presence).toMatchObject({ last_seen_at: later });
    expect(await getItem(embedded.table, cvmKeys.cvm(domain, 'stranger'))).toBeUndefined();
  });
});
