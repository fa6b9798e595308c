import 'reflect-metadata'; // @peculiar/x509 needs it
import { randomBytes, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  type JsonGeneralNames,
  PemConverter,
  PublicKey,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { isIP } from 'node:net';
import { type CvmIdentity, identityUri } from '../../gateway/identity/cvm-identity.ts';

/** A certificate authority: its certificate and its private key, in PEM. Whoever has the key can be any CVM of the stage. */
export interface Authority {
  certificate: string;
  key: string;
}

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const day = 24 * 60 * 60 * 1000;

/** Creates an authority for the CVMs of one stage, valid for ten years. */
export async function createAuthority(stage: string, now = Date.now()): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=CVMs of ${stage}`,
    keys,
    signingAlgorithm: algorithm,
    ...validity(now, 3_650),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await exportKey(keys.privateKey) };
}

/** Issues the certificate of a gateway, with its host names and addresses. */
export async function issueServerCertificate(authority: Authority, hosts: string[], now = Date.now()): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = hosts.map((host): JsonGeneralNames[number] => ({ type: isIP(host) ? 'ip' : 'dns', value: host }));
  const certificate = await issue(authority, {
    name: 'CN=gateway',
    publicKey: keys.publicKey,
    names,
    usage: ExtendedKeyUsage.serverAuth,
    days: 825,
    now,
  });
  return { certificate, key: await exportKey(keys.privateKey) };
}

/**
 * Issues the certificate of a CVM, valid for a year.
 * @param publicKey PEM; RSA or EC. The private key stays with the CVM
 */
export async function issueCvmCertificate(
  authority: Authority,
  identity: CvmIdentity,
  publicKey: string,
  now = Date.now(),
): Promise<string> {
  return await issue(authority, {
    name: 'CN=cvm',
    publicKey: new PublicKey(publicKey),
    names: [{ type: 'url', value: identityUri(identity) }],
    usage: ExtendedKeyUsage.clientAuth,
    days: 365,
    now,
  });
}

async function issue(
  authority: Authority,
  {
    name,
    publicKey,
    names,
    usage,
    days,
    now,
  }: {
    name: string;
    publicKey: webcrypto.CryptoKey | PublicKey;
    names: JsonGeneralNames;
    usage: ExtendedKeyUsage;
    days: number;
    now: number;
  },
): Promise<string> {
  const [key = new ArrayBuffer(0)] = PemConverter.decode(authority.key);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: randomBytes(16).toString('hex'),
    subject: name,
    issuer: new X509Certificate(authority.certificate).subject,
    signingKey: await webcrypto.subtle.importKey('pkcs8', key, algorithm, false, ['sign']),
    signingAlgorithm: algorithm,
    publicKey,
    ...validity(now, days),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([usage]),
      new SubjectAlternativeNameExtension(names),
    ],
  });
  return certificate.toString('pem');
}

/** The clock of a CVM may be a little behind. */
function validity(now: number, days: number) {
  return { notBefore: new Date(now - day), notAfter: new Date(now + days * day) };
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
