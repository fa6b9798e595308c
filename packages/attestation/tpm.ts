import { toBase64Url } from 'computation-management-formats/bytes';
import { type Bytes, concatenate, demand, isEqual, reader, sha, toHex } from './evidence-bytes.ts';

// Structures, names in capitals and constants are those of "Trusted Platform Module Library, Family 2.0, Part 2: Structures" of the TCG
// (revision 1.59). Numbers are big-endian. A TPM2B is a number of two bytes, and that many bytes.

/** The public part of an RSA key: modulus and exponent in base64url, as in a JSON Web Key. */
export interface RsaKey {
  n: string;
  e: string;
}

/** The number of the PCR in a bank, 0 to 23, and its value of 32 bytes. */
export type Pcrs = ReadonlyMap<number, Bytes>;

/** The largest number of a PCR of a TPM for PCs, by the "PC Client Platform TPM Profile" of the TCG. */
const lastPcr = 23;

const algorithms = { rsa: 0x0001, sha256: 0x000b, null: 0x0010, rsassa: 0x0014 } as const; // TPM_ALG_ID, section 6.3

/**
 * Bits of TPMA_OBJECT (section 8.3) that the key of a quote has: fixedTPM, fixedParent, sensitiveDataOrigin, restricted, sign. A key that is
 * not restricted signs what anyone gives it, also what looks like a quote.
 */
const ofQuotingKey = (1 << 1) | (1 << 4) | (1 << 5) | (1 << 16) | (1 << 18);

function fieldsOf(bytes: Bytes, what: string) {
  const { take, at } = reader(bytes);
  const number = (length: number) => take(length).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = () => demand(at() === bytes.length, `${what} is followed by other bytes`);
  /** Reads a TPM2B. */
  const sized = () => take(number(2));
  return { take, number, sized, end };
}

/**
 * Reads the public area of the key that signs quotes, TPMT_PUBLIC (section 12.2.4), of a key that go-tpm-tools makes: RSA of 2,048 bits or
 * more, RSASSA with SHA-256.
 * @throws Refusal if it is another key, or one that signs more than what its TPM made
 */
export function parseQuotingKey(bytes: Bytes): RsaKey {
  const area = fieldsOf(bytes, 'its key');
  demand(area.number(2) === algorithms.rsa, 'its key is not one of RSA'); // type
  area.number(2); // nameAlg
  const attributes = area.number(4);
  demand((attributes & ofQuotingKey) === ofQuotingKey, 'its key may sign what its TPM did not make');
  area.sized(); // authPolicy
  demand(area.number(2) === algorithms.null, 'its key also encrypts'); // TPMS_RSA_PARMS (section 12.2.3.5): symmetric
  demand(isRsaSha256(area.number(2), area.number(2)), 'its key does not sign by RSASSA with SHA-256'); // scheme
  const [bits, exponent] = [area.number(2), area.number(4)];
  const modulus = area.sized(); // unique
  area.end();
  demand(modulus.length * 8 === bits && bits >= 2048 && (modulus[0] ?? 0) >= 0x80, `its key of ${bits} bits is too short`);
  demand(exponent === 0, 'its key has an unusual exponent'); // 0 is 2^16 + 1
  return { n: toBase64Url(modulus), e: 'AQAB' };
}

const isRsaSha256 = (scheme: number, hash: number) => scheme === algorithms.rsassa && hash === algorithms.sha256;

/** Reads a signature by RSASSA with SHA-256 from TPMT_SIGNATURE (section 11.3.4). @throws Refusal if it is another one */
export function parseTpmSignature(bytes: Bytes): Bytes {
  const fields = fieldsOf(bytes, 'the signature of its quote');
  demand(isRsaSha256(fields.number(2), fields.number(2)), 'the signature of its quote is not by RSASSA with SHA-256');
  const signature = fields.sized();
  fields.end();
  return signature;
}

const generated = 0xff544347; // TPM_GENERATED_VALUE, section 6.2
const ofQuote = 0x8018; // TPM_ST_ATTEST_QUOTE, section 6.9

/** Reads a quote, TPMS_ATTEST (section 10.12.12) with TPMS_QUOTE_INFO (section 10.12.4) of one bank of PCRs. */
function parseQuote(bytes: Bytes) {
  const fields = fieldsOf(bytes, 'its quote');
  demand(fields.number(4) === generated, 'its quote was not made by a TPM'); // magic
  demand(fields.number(2) === ofQuote, 'it is not a quote'); // type
  fields.sized(); // qualifiedSigner
  const nonce = fields.sized(); // extraData
  fields.take(17 + 8); // clockInfo, firmwareVersion
  demand(fields.number(4) === 1 && fields.number(2) === algorithms.sha256, 'its quote is not of the bank of SHA-256 alone'); // pcrSelect
  const selected = fields.take(fields.number(1));
  const numbers = [...selected].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (1 << bit)).map((bit) => at * 8 + bit),
  );
  const digest = fields.sized(); // pcrDigest
  fields.end();
  return { nonce, numbers, digest };
}

/** A quote, in which a TPM signed the digest of its PCRs: the message TPMS_ATTEST, its signature, and the values of the PCRs beside it. */
export interface SignedQuote {
  message: Bytes;
  signature: Bytes;
  pcrs: Pcrs;
}

/**
 * Checks that an RSA key signed the quote of a TPM (RSASSA-PKCS1-v1_5 with SHA-256).
 * @returns what was seen, as a part of a sentence
 * @throws Refusal if the key did not
 */
export async function checkQuote({ message, signature }: SignedQuote, { n, e }: RsaKey): Promise<string> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('jwk', { kty: 'RSA', n, e }, algorithm, false, ['verify']);
  demand(await crypto.subtle.verify(algorithm, key, signature, message), 'it is not by the attestation key');
  return 'it is by the attestation key';
}

/** Returns the nonce of a quote, which its TPM got with the request. @throws Refusal if the quote cannot be read */
export const nonceOfQuote = ({ message }: SignedQuote): Bytes => parseQuote(message).nonce;

/**
 * Checks that the values of PCRs are those of which a quote has the digest, and that they are all 24 of the bank.
 * @throws Refusal if they are not
 */
export async function checkPcrs({ message, pcrs }: SignedQuote): Promise<string> {
  const { numbers, digest } = parseQuote(message);
  const values = numbers.map((number) => pcrs.get(number) ?? new Uint8Array());
  const isOfAll = numbers.length === lastPcr + 1 && pcrs.size === numbers.length;
  demand(isOfAll, `it is of ${numbers.length} PCRs, not of ${lastPcr + 1}`);
  const isOfHashes = values.every(({ length }) => length === 32);
  demand(isOfHashes, 'it has a PCR that is not of 32 bytes');
  const computed = await sha(256, concatenate(...values));
  demand(isEqual(computed, digest), `the PCRs have the digest ${toHex(computed)}, the quote has ${toHex(digest)}`);
  return 'they are the ones that the quote is of';
}
