import 'reflect-metadata'; // @peculiar/x509 needs it
import { randomBytes, webcrypto, createHash } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  type JsonGeneralNames,
  PemConverter,
  PublicKey,
  type PublicKeyType,
  SubjectAlternativeNameExtension,
  X509Certificate,
  type X509CertificateCreateCommonParams,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { isIP } from 'node:net';
import { GetPublicKeyCommand, SignCommand, type KMSClient } from '@aws-sdk/client-kms';
import { joinedSignature } from 'computation-management-formats/bytes';
import { type CvmIdentity, identityUri } from '../wire/identity.ts';

/**
 * The authority that issues the certificates of a stage's CVMs, with its private key, both in PEM. Whoever has the private key
 * can be any CVM of the stage.
 */
export interface Authority {
  certificate: string;
  key: string;
}

type Issuer = Authority | SigningAuthority;
type Content = X509CertificateCreateCommonParams & { publicKey: PublicKeyType };

interface SigningAuthority {
  /** The certificate of the authority that signs, in PEM. */
  certificate: string;
  sign: Sign;
}

/**
 * Signs content with the private key of an authority, by ECDSA with SHA-256 on P-256.
 * @returns the values r and s of the signature, 32 bytes each
 */
type Sign = (content: Uint8Array) => Promise<Uint8Array>;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const day = 24 * 60 * 60 * 1000;

/** Creates an authority for the CVMs of a stage, with a new private key and a certificate that is valid for ten years. */
export async function createAuthority(stage: string, now = Date.now()): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const publicKey = new Uint8Array(await webcrypto.subtle.exportKey('spki', keys.publicKey));
  const { certificate } = await selfSignedAuthority(stage, publicKey, signatureBy(keys.privateKey), now);
  return { certificate, key: await exportKey(keys.privateKey) };
}

async function selfSignedAuthority(stage: string, publicKey: Uint8Array, sign: Sign, now = Date.now()) {
  const name = `CN=CVMs of ${stage}`;
  const certificate = await signed(sign, {
    subject: name,
    issuer: name,
    publicKey: new PublicKey(Uint8Array.from(publicKey)),
    ...validity(now, 3_650),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificate, sign };
}

export async function issueServerCertificate(
  authority: Issuer,
  hosts: string[],
  now = Date.now(),
): Promise<{ certificate: string; key: string }> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = hosts.map((host): JsonGeneralNames[number] => ({ type: isIP(host) ? 'ip' : 'dns', value: host }));
  const given = { subject: 'CN=gateway', publicKey: keys.publicKey, ...validity(now, 825) };
  const certificate = await issue(authority, given, ExtendedKeyUsage.serverAuth, names);
  return { certificate, key: await exportKey(keys.privateKey) };
}

/**
 * Issues a certificate for the client of a CVM, valid for a year.
 * @param publicKey the public key of the client in PEM, RSA or EC
 */
export async function issueCvmCertificate(
  authority: Issuer,
  identity: CvmIdentity,
  publicKey: string,
  now = Date.now(),
): Promise<string> {
  const given = { subject: 'CN=cvm', publicKey: new PublicKey(publicKey), ...validity(now, 365) };
  return await issue(authority, given, ExtendedKeyUsage.clientAuth, [{ type: 'url', value: identityUri(identity) }]);
}

async function issue(authority: Issuer, given: Content, usage: ExtendedKeyUsage, names: JsonGeneralNames): Promise<string> {
  return await signed('sign' in authority ? authority.sign : await signatureOf(authority), {
    ...given,
    issuer: new X509Certificate(authority.certificate).subject,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([usage]),
      new SubjectAlternativeNameExtension(names),
    ],
  });
}

async function signatureOf(authority: Authority): Promise<Sign> {
  const [key = new ArrayBuffer(0)] = PemConverter.decode(authority.key);
  return signatureBy(await webcrypto.subtle.importKey('pkcs8', key, algorithm, false, ['sign']));
}

function signatureBy(key: webcrypto.CryptoKey): Sign {
  return async (content) => new Uint8Array(await webcrypto.subtle.sign(algorithm, key, content));
}

/** Issues a certificate with the given contents and a signature by `sign`. @returns the certificate in PEM */
async function signed(sign: Sign, certificate: Content): Promise<string> {
  // The library signs by WebCrypto. A key in KMS has none, so it gets the one operation that it calls, and the key's algorithm.
  const signing = {
    getRandomValues: webcrypto.getRandomValues.bind(webcrypto),
    subtle: {
      sign: async (_algorithm: unknown, _key: unknown, content: ArrayBuffer) =>
        Uint8Array.from(await sign(new Uint8Array(content))).buffer,
      exportKey: webcrypto.subtle.exportKey.bind(webcrypto.subtle),
    },
  };
  const issued = await X509CertificateGenerator.create(
    {
      ...certificate,
      serialNumber: randomBytes(16).toString('hex'),
      signingKey: { type: 'private', extractable: false, usages: ['sign'], algorithm },
      signingAlgorithm: algorithm,
    },
    signing,
  );
  return issued.toString('pem');
}

/**
 * Returns the first and the last time at which a certificate is valid: from a day ago, because the clock of a CVM may be a little
 * behind, to a number of days from now.
 */
const validity = (now: number, days: number) => ({ notBefore: new Date(now - day), notAfter: new Date(now + days * day) });

const exportKey = async (key: webcrypto.CryptoKey): Promise<string> =>
  PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');

/**
 * Opens an authority whose private key is in KMS, with a newly signed certificate. Certificates of CVMs verify with each earlier
 * certificate of the authority too, because key and name stay the same.
 * @param keyId an ARN or an alias of a key on P-256
 */
export async function kmsAuthority(client: KMSClient, keyId: string, stage: string): Promise<SigningAuthority> {
  const { PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId: keyId }));
  const sign = async (content: Uint8Array) => {
    const { Signature = new Uint8Array() } = await client.send(
      new SignCommand({
        KeyId: keyId,
        Message: createHash('sha256').update(content).digest(),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      }),
    );
    return joinedSignature(Signature);
  };
  return await selfSignedAuthority(stage, PublicKey, sign);
}
