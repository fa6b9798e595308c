import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstSteps, takeFirstSteps } from '../first-steps.ts';

const vectors = fileURLToPath(new URL('vectors', import.meta.url));
let folder: string;
let printed: string;
beforeAll(async () => ({ folder, printed } = await takeFirstSteps('attestation')));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the package of the attestation', () => {
  it('works as its README says, in an empty folder', () => {
    expect(printed).toMatch(firstSteps.attestation.printed);
  });

  it('verifies SNP and TDX with what browsers have alone', async () => {
    const entry = `
      import { verifySnpReport, verifyTdxQuote } from 'computation-management-attestation';
      const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      globalThis.result = (async () => [
        await verifySnpReport(bytes(report), { now: new Date('2025-06-01'), boundTo: null, certificates: [bytes(vcek)] }),
        await verifyTdxQuote(bytes(quote), { now: new Date('2025-07-01'), boundTo: null, collateral: [JSON.parse(collateral)] }),
      ].map(({ checks }) => checks.filter(({ passed }) => !passed).map(({ name }) => name).join()).join())();
    `;
    writeFileSync(join(folder, 'page.js'), entry);
    const { outputFiles } = await build({
      entryPoints: [join(folder, 'page.js')],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      logLevel: 'silent',
    });
    const base64 = (file: string) => readFileSync(join(vectors, file)).toString('base64');
    const evidence = {
      report: base64('snp-milan.report'),
      vcek: base64('snp-milan.vcek.der'),
      quote: base64('tdx.quote'),
      collateral: readFileSync(join(vectors, 'tdx.collateral.json'), 'utf8'),
    };
    const page = createContext({ crypto, atob, TextDecoder, TextEncoder, ...evidence });
    runInContext(outputFiles[0]?.text ?? '', page);
    expect(await (page['result'] as Promise<string>)).toBe('report_data,report_data');
  });
});
