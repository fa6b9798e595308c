import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pcrWithManifest } from 'computation-management-attestation';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentConnection } from '../../../packages/cms/agent/agent-connection.ts';
import { freshVerdict } from '../../../packages/cms/agent/right-agent.ts';
import { startStandInAgent } from '../../support/stand-in-agent.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { certificate, coseOf, forgeSnp } from '../attestation/forge-snp.ts';
import { forgeAzure, forgeSnpVtpm, type VtpmChange } from '../attestation/forge-vtpm.ts';
import { cmsIn } from './fake-terminal.ts';

const user_key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const hash = Array.from({ length: 32 }, () => 7);
const manifest = {
  id: 'c1',
  name: 'Iris',
  description: '',
  datasets: [],
  algorithm: { hash, user_key },
  result_consumers: [{ user_key }],
};
const policy = { ...strictPolicy, platforms: ['snp-vtpm' as const], measurements: ['ab'.repeat(48)] };

/** Asks an agent for fresh evidence with a policy or without, by the root of the test keys. */
async function freshEvidenceOf(
  attest: (nonce: Buffer, type: number) => Uint8Array,
  attestation_policy: (typeof policy & { allow_used_guest: boolean }) | null,
) {
  const agent = await startStandInAgent({ userKey: user_key, attest, withTls: false });
  const root = join(temporaryFolder(), 'root.pem');
  writeFileSync(root, forgeSnp().options.roots?.[0] ?? '');
  const connection = await AgentConnection.open({ address: agent.address, signal: new AbortController().signal });
  onTestFinished(() => {
    connection.close();
    agent.stop();
  });
  const configuration = { attestation_policy };
  const known = { run: { id: 'r1' }, manifest, configuration, isApproved: true } as unknown as Parameters<typeof freshVerdict>[1];
  return await freshVerdict(connection, known, { root: [root] });
}

/** Asks an agent with a vTPM whose PCR 16 has a value for fresh evidence, as `cms send` does. */
async function verdictOf(
  pcr: string,
  { allow_used_guest = false, change = {} }: { allow_used_guest?: boolean; change?: VtpmChange } = {},
) {
  const attest = (nonce: Buffer) => {
    const pcrs = (all: Buffer[]) => (all[16] = Buffer.from(pcr, 'hex'));
    const { evidence } = forgeSnpVtpm({ bound: nonce, nonce: nonce.subarray(0, 32), pcrs, ...change });
    return coseOf({ platform_type: 'SNP-vTPM', raw_report: evidence });
  };
  const { verdict, checks } = await freshEvidenceOf(attest, { ...policy, allow_used_guest });
  const manifestCheck = verdict.checks.find(({ name }) => name === 'manifest');
  return {
    failed: [...verdict.checks, ...checks].filter(({ passed }) => !passed).map(({ name }) => name),
    said: manifestCheck?.detail.split(', if neither')[0],
  };
}

/** Makes a folder that is there until the test ends. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vtpm-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('saved evidence of an agent with a vTPM is genuine, bound to nothing without a nonce, and refused with an altered quote', async () => {
  const folder = temporaryFolder();
  const write = (name: string, content: Uint8Array | string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const token = ({ evidence }: { evidence: Buffer }) => coseOf({ platform_type: 'SNP-vTPM', raw_report: evidence });
  const root = write('root.pem', forgeSnp().options.roots?.[0] ?? '');
  const saved = write('saved', token(forgeSnpVtpm()));
  const altered = write('altered', token(forgeSnpVtpm({ signature: (bytes) => bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9) })));
  const cms = cmsIn(folder);
  const attest = async (file: string) => await cms('attest', file, '--root', root);
  expect(await attest(saved)).toMatchObject({
    exitCode: 14,
    stdout: expect.stringMatching(/genuine, bound to nothing: snp-vtpm, measurement (ab){48}/),
  });
  expect(await attest(altered)).toMatchObject({ exitCode: 12, stdout: expect.stringMatching(/FAILED +quote: /) });
  const bound = await cms('attest', saved, '--root', root, '--bound-to', write('cvm.pem', certificate));
  expect(bound).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('verified: snp-vtpm') });
});

describe('fresh evidence of an agent with a vTPM', () => {
  it('is asked of every platform where no policy names one, last of all of Azure', async () => {
    const asked: number[] = [];
    const { verdict } = await freshEvidenceOf((nonce, type) => {
      asked.push(type);
      if (type !== 3) throw new Error('there is no such device');
      return coseOf({ platform_type: 'Azure', raw_report: forgeAzure({ nonce }).evidence });
    }, null);
    expect(asked).toEqual([0, 2, 4, 3]); // SNP, vTPM, TDX, Azure
    const checks = expect.arrayContaining([expect.objectContaining({ name: 'quote_nonce', passed: true })]);
    expect(verdict).toMatchObject({ platform: 'az-snp-vtpm', checks });
  });

  it('says whether the machine has the manifest of the run, and is refused with another one', async () => {
    const own = await pcrWithManifest(manifest);
    const other = createHash('sha256').update('another').digest('hex');
    expect(await verdictOf(own)).toEqual({ failed: [], said: 'PCR 16: the machine has the manifest of this run' });
    expect(await verdictOf('00'.repeat(32))).toEqual({ failed: [], said: 'PCR 16: the machine has no manifest yet' });
    expect(await verdictOf(other)).toEqual({
      failed: ['manifest', 'evidence'],
      said: 'PCR 16: the machine had another manifest',
    });
    expect((await verdictOf(other, { allow_used_guest: true })).failed).toEqual([]);
  });

  it('is refused with a quote or a report for another nonce', async () => {
    const own = await pcrWithManifest(manifest);
    expect((await verdictOf(own, { change: { nonce: Buffer.alloc(32, 1) } })).failed).toEqual(['quote_nonce', 'evidence']);
    expect((await verdictOf(own, { change: { bound: Buffer.alloc(64, 1) } })).failed).toContain('report_data');
  });
});
