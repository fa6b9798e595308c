import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { readCollateral } from '../../../shared/attestation/collateral.ts';
import { collateralCommand } from '../../../tools/commands/collateral.ts';
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
  await expect(collateralCommand(['add', vector('README.md')])).rejects.toThrow('neither a certificate nor');
  await expect(collateralCommand(['add'])).rejects.toThrow('Expected a file.');
});
