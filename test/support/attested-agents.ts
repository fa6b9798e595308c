import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { tokenVerifier } from '../../shared/attestation/index.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { coseOf, forgeSnp, messageOf } from '../packages/attestation/forge-snp.ts';
import { untilTestEnds } from './patience.ts';
import { readyComputation, type Call } from './ready-computation.ts';
import { strictPolicy } from './strict-policy.ts';

/** Makes the service in this process trust the forged machines of `machineToken`. */
export function trustForgedMachines(): void {
  replaceClient(tokenVerifier, withTestRoots(forgeSnp().options.roots ?? []).verifyToken);
}

/** Returns the attestation token of a newly launched machine over a certificate in PEM. */
export function machineToken(certificate: string, change: (report: Buffer) => void = () => undefined): Uint8Array {
  const forged = forgeSnp({
    report: (bytes) => {
      createHash('sha512').update(certificate).digest().copy(bytes, 0x50);
      change(bytes);
    },
  });
  return coseOf({ platform_type: 'SNP', raw_report: messageOf(forged.report, forged.certificates) });
}

/** Waits until a CVM has a verified attestation. @param token the one that was verified. Default: any */
export async function untilAttested(call: Call, cvmId: string, token?: Uint8Array): Promise<void> {
  const attestation = async () => (await call('GET', `/d1/cvms/${cvmId}`)).body['attestation'];
  const token_hash = token ? createHash('sha256').update(token).digest('hex') : expect.anything();
  await expect.poll(attestation, untilTestEnds).toMatchObject({ verdict: 'verified', token_hash });
}

/** Creates a computation that is ready to run, with a policy on forged machines. */
export async function computationWithPolicy(call: Call, more: Partial<typeof strictPolicy> = {}): Promise<string> {
  const id = await readyComputation(call);
  const attestation_policy = { ...strictPolicy, ...more };
  expect((await call('PUT', `/d1/computations/${id}`, { name: 'Iris', attestation_policy })).status).toBe(200);
  return id;
}
