import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { readCollateral } from '../../../shared/attestation/collateral.ts';
import { collateralCommand } from '../../../tools/commands/collateral.ts';
import { forgeCertificate, number, spec } from '../../packages/attestation/forge-certificates.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);
const vector = (name: string) => join(import.meta.dirname, '../../packages/attestation/vectors', name);
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it('adds certificates and collateral, which the service then reads, and nothing of another kind', async () => {
  vi.stubEnv('DYNAMODB_ENDPOINT', embedded.endpoint);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const files = [vector('snp-milan.vcek.der'), vector('snp-genoa.vcek.pem'), vector('tdx.collateral.json')];
  for (const _twice of [1, 2]) await collateralCommand(['add', ...files]);
  const { certificates, collateral } = await readCollateral(embedded.table);
  expect([certificates?.length, collateral?.length]).toEqual([2, 1]);
  const chain = join(mkdtempSync(join(tmpdir(), 'collateral-')), 'chain.pem');
  const pems = [vector('snp-genoa.vcek.pem'), 'packages/simulated-cvm/test-root.pem'].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(chain, pems.join('\n'));
  await collateralCommand(['add', chain]);
  expect((await readCollateral(embedded.table)).certificates).toHaveLength(3);
  const key = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const unknown = [{ name: '1.2.3', value: number(1), critical: true }];
  writeFileSync(chain, forgeCertificate({ ...spec, key, signer: key, subject: 'a', issuer: 'a', extensions: unknown }));
  await expect(collateralCommand(['add', chain])).rejects.toThrow('has the unknown critical extension 1.2.3');
  writeFileSync(chain, readFileSync(vector('tdx.collateral.json'), 'utf8').replace('"tcb_info": "{', '"tcb_info": "'));
  await expect(collateralCommand(['add', chain])).rejects.toThrow('neither a certificate nor');
  await expect(collateralCommand(['add', vector('README.md')])).rejects.toThrow('neither a certificate nor');
  await expect(collateralCommand(['add'])).rejects.toThrow('Expected a file.');
});
