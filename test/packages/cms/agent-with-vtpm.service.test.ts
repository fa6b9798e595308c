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
import { coseOf, forgeSnp } from '../attestation/forge-snp.ts';
import { forgeSnpVtpm, type VtpmChange } from '../attestation/forge-vtpm.ts';

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
  const agent = await startStandInAgent({ userKey: user_key, attest, withTls: false });
  const folder = mkdtempSync(join(tmpdir(), 'vtpm-'));
  const root = join(folder, 'root.pem');
  writeFileSync(root, forgeSnp().options.roots?.[0] ?? '');
  const connection = await AgentConnection.open({ address: agent.address, signal: new AbortController().signal });
  onTestFinished(() => {
    connection.close();
    agent.stop();
    rmSync(folder, { recursive: true });
  });
  const configuration = { attestation_policy: { ...policy, allow_used_guest } };
  const known = { run: { id: 'r1' }, manifest, configuration, isApproved: true } as unknown as Parameters<typeof freshVerdict>[1];
  const { verdict, checks } = await freshVerdict(connection, known, { root: [root] });
  const manifestCheck = verdict.checks.find(({ name }) => name === 'manifest');
  return {
    failed: [...verdict.checks, ...checks].filter(({ passed }) => !passed).map(({ name }) => name),
    said: manifestCheck?.detail.split(', if neither')[0],
  };
}

describe('fresh evidence of an agent with a vTPM', () => {
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
