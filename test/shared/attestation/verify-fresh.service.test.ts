import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { addCollateral } from '../../../shared/attestation/collateral.ts';
import { verifyFresh } from '../../../shared/attestation/verify-tokens.ts';
import { putContent } from '../../../shared/rows/content-store.ts';
import { coseOf, forgeSnp, messageOf, now, type SnpChange } from '../../packages/attestation/forge-snp.ts';
import { trustForgedMachines } from '../../support/attested-agents.ts';
import { startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);
beforeAll(trustForgedMachines);

const tokenOf = (change: SnpChange, isWithCertificates: boolean) => {
  const { report, certificates } = forgeSnp(change);
  return coseOf({ platform_type: 'SNP', raw_report: messageOf(report, isWithCertificates ? certificates : []) });
};

describe('fresh evidence that lacks its certificate', () => {
  it('is verified by the certificate in a token of the run, though an operator has added one of the same chip that has expired', async () => {
    const { table, content: store } = stores;
    const { certificates } = forgeSnp({ leaf: { to: new Date('2025-01-01') } });
    for (const content of certificates) await addCollateral(table, { kind: 'certificate', content });
    const key = 'content/attestation/d1/cvm-1/process/token';
    await putContent(store, key, Buffer.from(tokenOf({}, true)));
    const reportData = randomBytes(64);
    const evidence = tokenOf({ report: (bytes) => void reportData.copy(bytes, 0x50) }, false);
    const verify = (keys: string[]) =>
      verifyFresh(
        { table, store },
        { token: evidence, reportData, tokensOfRuns: () => Promise.resolve(keys) },
        now.toISOString(),
      );
    expect(await verify([key])).toMatchObject({ verdict: 'verified' });
    const failed = (await verify([])).checks.filter(({ passed }) => !passed);
    expect(failed).toMatchObject([{ name: 'certificate_validity' }]);
  });
});
