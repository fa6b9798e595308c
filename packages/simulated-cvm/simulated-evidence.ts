import { createHash, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/** Returns the root certificate of public test keys, in PEM. Whoever trusts it believes anyone. */
export const testRoot = () => read('test-root.pem');

/**
 * Returns whether a registered CVM is simulated and attests, if the service trusts test keys: its identifier is `sim-attested` or
 * begins with `sim-attested-`.
 */
export const attests = (cvmId: string) => /^sim-attested(-|$)/.test(cvmId);

/**
 * A test machine for SNP evidence: its private key, the signed bytes of a report, and an agent's message that contains the
 * report, with the places of report data, identifier of the guest and signature in the message.
 */
type TestMachine = Record<'key' | 'report' | 'message', string> & Record<'dataAt' | 'idAt' | 'signatureAt', number>;

/**
 * Makes the attestation token of an SNP machine with test keys over a certificate in PEM, as an agent does at its start. Each
 * token is of another guest, as of a machine that was started anew.
 */
export const testToken = (certificate: string): Buffer => testTokenOver(createHash('sha512').update(certificate).digest());

/**
 * Makes the attestation token of an SNP machine with test keys over the given report data.
 * @param data the report data, 64 bytes
 * @param guest the REPORT_ID of the guest, 32 bytes. Default: that of a machine that was started anew
 */
export function testTokenOver(data: Buffer, guest: Buffer = randomBytes(32)): Buffer {
  const machine = JSON.parse(read('test-machine.json')) as TestMachine;
  const [report, message] = [Buffer.from(machine.report, 'base64'), Buffer.from(machine.message, 'base64')];
  report.set(data, 0x50);
  report.set(guest, 0x140);
  message.set(data, machine.dataAt);
  message.set(guest, machine.idAt);
  const signature = sign('sha384', report, { key: machine.key, dsaEncoding: 'ieee-p1363' });
  message.set(signature.subarray(0, 48).toReversed(), machine.signatureAt);
  message.set(signature.subarray(48).toReversed(), machine.signatureAt + 72);
  const parts = [{ alg: 'ES256' }, { platform_type: 'SNP', raw_report: message.toString('base64') }, 'unsigned'];
  return Buffer.from(parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.'));
}
