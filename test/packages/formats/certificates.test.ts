import { generateKeyPairSync } from 'node:crypto';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { InvalidKeyError } from 'computation-management-formats/public-key';
import { describe, expect, it } from 'vitest';
import { cvm, cvmBody } from '../../../shared/openapi/examples.ts';

const { certificate } = cvmBody;
const privateKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const publicKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString();
const armoured = (der: Buffer) => `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----`;
const der = Buffer.from(certificate.replace(/-----[A-Z ]+-----/g, ''), 'base64');

function refused(pem: string): string {
  try {
    return fingerprintOfCertificate(pem);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidKeyError);
    return (error as Error).message;
  }
}

describe('fingerprintOfCertificate', () => {
  it('is the one that openssl prints, in every layout of the PEM', () => {
    const layouts = [
      certificate,
      certificate.trim(),
      certificate.replaceAll('\n', '\r\n'),
      `\n ${certificate}\n\n`,
      armoured(der),
    ];
    for (const layout of layouts) expect(fingerprintOfCertificate(layout)).toBe(cvm.certificate_fingerprint);
  });

  it.each([
    ['a private key', privateKey],
    ['a certificate with its private key', certificate + privateKey],
    ['a private key with its certificate', privateKey + certificate],
  ])('refuses %s, and says so', (_what, pem) => {
    expect(refused(pem)).toMatch(/private key/);
    expect(refused(pem)).not.toContain(privateKey.split('\n')[1]);
  });

  it.each([
    ['nothing', ' '],
    ['words', 'my certificate'],
    ['a public key', publicKey],
    ['two certificates', certificate + certificate],
    ['text around it', `Subject: cvm-1\n${certificate}`],
    ['base64 without armour', der.toString('base64')],
    ['an empty certificate', armoured(Buffer.alloc(0))],
    ['a cut certificate', armoured(der.subarray(0, -1))],
    ['bytes after the certificate', armoured(Buffer.concat([der, Buffer.from([0])]))],
    ['other DER', armoured(Buffer.from([0x30, 0x03, 0x02, 0x01, 0x01]))],
  ])('refuses %s', (_what, pem) => {
    expect(refused(pem)).toBe('Expected one X.509 certificate in PEM ("BEGIN CERTIFICATE").');
  });
});
