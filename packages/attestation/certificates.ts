import { joinedSignature } from 'computation-management-formats/bytes';
import {
  type Bytes,
  demand,
  isEqual,
  bytesOfBase64,
  quote,
  Refusal,
  toHex,
  bitString,
  element,
  type Element,
  elements,
  oid,
  parts,
  smallInteger,
  tags,
  take,
  time,
} from './evidence-bytes.ts';

export type Certificate = ReturnType<typeof parseCertificate>;
type Signed = Pick<Certificate, 'signedBytes' | 'issuer' | 'signatureAlgorithm' | 'signature'>;

const rsaPss = '1.2.840.113549.1.1.10';
const ecdsaSha256 = '1.2.840.10045.4.3.2';
const keyUsage = '2.5.29.15';
const basicConstraints = '2.5.29.19';

const pemBlock = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g;

/** Splits a PEM file into files of one certificate. Returns any other file as it is. */
export function splitPem(bytes: Uint8Array): Uint8Array[] {
  const blocks = new TextDecoder('latin1').decode(bytes).match(pemBlock);
  return bytes[0] === tags.sequence || !blocks ? [bytes] : blocks.map((block) => new TextEncoder().encode(block));
}

/** Reads X.509 certificates: one in DER, or all in a PEM file. @throws Refusal if a certificate cannot be read */
export function parseCertificates(bytes: Uint8Array): Certificate[] {
  if (bytes[0] === tags.sequence) return [parseCertificate(new Uint8Array(bytes))];
  const blocks = [...new TextDecoder('latin1').decode(bytes).matchAll(pemBlock)];
  demand(blocks.length > 0, 'a certificate is neither DER nor PEM');
  return blocks.map(([, base64 = '']) => parseCertificate(bytesOfBase64(base64.replaceAll(/\s/g, ''), 'a certificate')));
}

function parseCertificate(bytes: Bytes) {
  const { signed, fields } = parseSigned(bytes);
  const version = take(fields, 0xa0);
  demand(smallInteger(version.content) === 2, 'a certificate is not of version 3');
  const serial = take(fields, tags.integer);
  demand(isEqual(take(fields, tags.sequence).bytes, signed.algorithm), 'a certificate names two signature algorithms');
  const issuer = take(fields, tags.sequence);
  const [notBefore, notAfter] = elements(take(fields, tags.sequence).content).map(time);
  const subject = take(fields, tags.sequence);
  const publicKey = take(fields, tags.sequence);
  demand(notBefore !== undefined && notAfter !== undefined, 'a certificate has no validity');
  return {
    ...signed,
    serial: toHex(serial.content),
    /** The name of the issuer as DER. Names are compared by these bytes. */
    issuer: issuer.bytes,
    subject: subject.bytes,
    commonName: commonName(subject),
    notBefore,
    notAfter,
    /** The public key that the certificate certifies, as DER SubjectPublicKeyInfo. */
    publicKey: publicKey.bytes,
    extensions: parseExtensions(fields.find(({ tag }) => tag === 0xa3)),
  };
}

function parseSigned(bytes: Bytes) {
  const [body, algorithm, signature, ...others] = parts(bytes);
  const isSigned = signature?.tag === tags.bits && others.length === 0;
  demand(body?.tag === tags.sequence && algorithm?.tag === tags.sequence && isSigned, 'it is not an X.509 structure');
  const [signatureAlgorithm] = elements(algorithm.content);
  demand(signatureAlgorithm !== undefined, 'it names no signature algorithm');
  const signed = {
    signedBytes: body.bytes,
    algorithm: algorithm.bytes,
    signatureAlgorithm: oid(signatureAlgorithm),
    signature: bitString(signature),
  };
  return { signed, fields: elements(body.content) };
}

function commonName(name: Element): string {
  const attributes = elements(name.content).flatMap(({ bytes }) =>
    parts(bytes, tags.set).map((attribute) => elements(attribute.content)),
  );
  const value = attributes.find(([type]) => type !== undefined && oid(type) === '2.5.4.3')?.[1];
  return new TextDecoder().decode(value?.content);
}

/**
 * Returns the extensions of a certificate: the content of each, by its object identifier.
 * @throws Refusal if an extension occurs twice, or is critical and unknown to this package
 */
function parseExtensions(field: Element | undefined): Map<string, Bytes> {
  const extensions = new Map<string, Bytes>();
  for (const extension of field === undefined ? [] : parts(field.content)) {
    const fields = elements(extension.content);
    const name = oid(take(fields, tags.oid));
    const critical = fields[0]?.tag === tags.boolean && take(fields, tags.boolean).content[0] !== 0;
    demand(!extensions.has(name), `a certificate has the extension ${name} twice`);
    const isKnown = !critical || name === keyUsage || name === basicConstraints;
    demand(isKnown, `a certificate has the unknown critical extension ${name}`);
    extensions.set(name, take(fields, tags.octets).content);
  }
  return extensions;
}

function isAuthority({ extensions }: Certificate): boolean {
  const constraints = extensions.get(basicConstraints);
  const usage = extensions.get(keyUsage);
  if (constraints === undefined || usage === undefined) return false;
  const [authority] = parts(constraints);
  const { content } = element(usage, tags.bits);
  return authority?.tag === tags.boolean && authority.content[0] === 0xff && ((content[1] ?? 0) & 0x04) !== 0;
}

/**
 * Checks that each certificate of a chain is signed by the next one, and the last certificate by a trusted root. Every
 * certificate but the first one must be an authority.
 * @returns the root that signed the last certificate
 * @throws Refusal with what does not hold
 */
export async function checkChain(chain: readonly Certificate[], roots: readonly Certificate[]): Promise<Certificate> {
  const last = chain.at(-1);
  const named = roots.filter(({ subject }) => last !== undefined && isEqual(subject, last.issuer));
  return tryEach(named, `no trusted root issued the certificate ${quote(last?.commonName ?? '')}`, async (root) => {
    for (const [at, certificate] of chain.entries()) {
      const issuer = chain[at + 1] ?? root;
      demand(isAuthority(issuer), `${quote(issuer.commonName)} may not sign certificates`);
      await checkSignature(certificate, issuer, `the certificate ${quote(certificate.commonName)}`);
    }
    return root;
  });
}

export const mostTried = 16; // more of one name, or for one chip, than anyone needs: each costs signatures

/**
 * Calls `attempt` with each of several certificates, and returns the result of the first that succeeds, those valid longest
 * first: certificates of one name may have different keys.
 * @throws Refusal with what failed for which candidate, by its serial number, if all fail; with `otherwise` if there is none
 */
export async function tryEach<Result>(
  certificates: readonly Certificate[],
  otherwise: string,
  attempt: (certificate: Certificate) => Promise<Result>,
): Promise<Result> {
  const longestFirst = certificates.toSorted((one, other) => Number(other.notAfter) - Number(one.notAfter)).slice(0, mostTried);
  const failures: string[] = [];
  for (const candidate of longestFirst) {
    try {
      return await attempt(candidate);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it failed';
      failures.push(longestFirst.length === 1 ? why : `with ${quote(candidate.commonName)} number ${candidate.serial}: ${why}`);
    }
  }
  throw new Refusal(failures.join('; ') || otherwise);
}

export function describeChain(chain: readonly Certificate[]): string {
  return `${chain.map(({ commonName: name }) => quote(name)).join(', ')}: each is signed by the next`;
}

async function checkSignature(signed: Signed, issuer: Certificate, what: string): Promise<void> {
  demand(isEqual(signed.issuer, issuer.subject), `${what} is not issued by ${quote(issuer.commonName)}`);
  const holds =
    signed.signatureAlgorithm === rsaPss
      ? await verifyRsaPss(issuer.publicKey, signed.signature, signed.signedBytes)
      : signed.signatureAlgorithm === ecdsaSha256 &&
        (await verifyEcdsa('P-256', issuer.publicKey, joinedSignature(signed.signature), signed.signedBytes));
  demand(holds, `${what} is not signed by ${quote(issuer.commonName)}`);
}

/**
 * Verifies an RSA-PSS signature as AMD makes it: with SHA-384 and a salt of 48 bytes. The parameters that a certificate names for its signature are
 * not read: they are signed too, and a signature that was made with others does not verify by these.
 */
async function verifyRsaPss(spki: Bytes, signature: Bytes, content: Bytes): Promise<boolean> {
  const key = await crypto.subtle.importKey('spki', spki, { name: 'RSA-PSS', hash: 'SHA-384' }, false, ['verify']);
  return crypto.subtle.verify({ name: 'RSA-PSS', saltLength: 48 }, key, signature, content);
}

/**
 * Verifies an ECDSA signature, with SHA-256 for the curve P-256 and SHA-384 for P-384.
 * @param key the signer's public key, as DER SubjectPublicKeyInfo or an uncompressed point
 * @param signature the numbers r and s one after the other, each of the curve's size, big-endian
 */
export async function verifyEcdsa(curve: 'P-256' | 'P-384', key: Bytes, signature: Bytes, content: Bytes): Promise<boolean> {
  const algorithm = { name: 'ECDSA', namedCurve: curve };
  const imported = await crypto.subtle.importKey(key[0] === tags.sequence ? 'spki' : 'raw', key, algorithm, false, ['verify']);
  return crypto.subtle.verify({ name: 'ECDSA', hash: curve === 'P-256' ? 'SHA-256' : 'SHA-384' }, imported, signature, content);
}

export function checkValidity(certificates: readonly Certificate[], now: Date): string {
  for (const { commonName: name, notBefore, notAfter } of certificates) {
    demand(now >= notBefore, `${quote(name)} is not valid before ${notBefore.toISOString()}`);
    demand(now <= notAfter, `${quote(name)} is not valid after ${notAfter.toISOString()}`);
  }
  const first = certificates.map(({ notAfter }) => notAfter).sort((one, other) => Number(one) - Number(other))[0];
  return `all certificates are valid until ${first?.toISOString() ?? ''}`;
}

/**
 * Checks that a revocation list is signed by the issuer and up to date, and that it lists none of the certificates. Serial numbers are compared by
 * their bytes, because one authority writes both.
 * @throws Refusal with what does not hold
 */
export async function checkRevocation(
  list: Bytes,
  issuer: Certificate,
  certificates: readonly Certificate[],
  now: Date,
): Promise<void> {
  const parsed = parseRevocationList(list);
  const what = `the revocation list of ${quote(issuer.commonName)}`;
  await checkSignature(parsed, issuer, what);
  const isCurrent = now >= parsed.thisUpdate && now <= parsed.nextUpdate;
  demand(isCurrent, `${what} is not up to date: next update ${parsed.nextUpdate.toISOString()}`);
  for (const { commonName: name, serial, issuer: its } of certificates) {
    demand(isEqual(its, issuer.subject), `${quote(name)} is not issued by ${quote(issuer.commonName)}`);
    demand(!parsed.serials.has(serial), `${quote(name)} is revoked`);
  }
}

/** Reads a revocation list of X.509 in DER, without checking its signature. @throws Refusal if it cannot be read */
export function parseRevocationList(bytes: Bytes) {
  const { signed, fields } = parseSigned(bytes);
  demand(smallInteger(take(fields, tags.integer).bytes) === 1, 'a revocation list is not of version 2');
  demand(isEqual(take(fields, tags.sequence).bytes, signed.algorithm), 'a revocation list names two signature algorithms');
  const issuer = take(fields, tags.sequence);
  const [thisUpdate, nextUpdate] = fields.splice(0, 2).map(time);
  demand(thisUpdate !== undefined && nextUpdate !== undefined, 'a revocation list has no time of its next update');
  const revoked = fields[0]?.tag === tags.sequence ? elements(take(fields, tags.sequence).content) : [];
  const serials = new Set(revoked.map(({ content }) => toHex(take(elements(content), tags.integer).content)));
  return { ...signed, issuer: issuer.bytes, issuerName: commonName(issuer), thisUpdate, nextUpdate, serials };
}
