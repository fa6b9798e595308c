import { createHash, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  checkPcrs,
  checkQuote,
  nonceOfQuote,
  parseQuotingKey,
  parseTpmSignature,
  type RsaKey,
} from '../../../packages/attestation/tpm.ts';

/** A quote, with the public area of the key that signed it. vectors/README.md names the sources. */
interface Vector {
  area: string;
  quote: string;
  sig: string;
  pcrs: Record<string, string>;
}

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), 'utf8'));
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const sha256 = (of: string | Uint8Array) => createHash('sha256').update(of).digest();

function signedQuote(name: string) {
  const vector = read(name) as Vector;
  const pcrs = new Map(Object.entries(vector.pcrs).map(([number, value]) => [Number(number), bytes(value)]));
  return {
    vector,
    key: parseQuotingKey(bytes(vector.area)),
    quote: { message: bytes(vector.quote), signature: parseTpmSignature(bytes(vector.sig)), pcrs },
  };
}

/** The quote of Trustee's evidence, whose key is in another form: DER SubjectPublicKeyInfo. */
function quoteOfTrustee() {
  const { ak_public, tpm_quote } = read('tpm-trustee') as {
    ak_public: string;
    tpm_quote: { message: string; signature: string; pcrs: string[] };
  };
  const key = createPublicKey({ key: Buffer.from(ak_public, 'base64'), format: 'der', type: 'spki' });
  const pcrs = new Map(tpm_quote.pcrs.map((value, number) => [number, new Uint8Array(Buffer.from(value, 'hex'))]));
  const signature = parseTpmSignature(bytes(tpm_quote.signature));
  return {
    key: key.export({ format: 'jwk' }) as unknown as RsaKey,
    quote: { message: bytes(tpm_quote.message), signature, pcrs },
  };
}

const nonceOfTrustee =
  'a04182b506878d4f29b91ee606a71a0d3361ccf1b22db20c98adcaa537bea393ef0e41a18b3569ab678f1497fbc5c12000000000000000000000000000000000';

describe('structures of a TPM', () => {
  const { vector, key, quote } = signedQuote('tpm-simulator');

  it('are those of the reference implementation', async () => {
    expect(await checkQuote(quote, key)).toContain('by the attestation key');
    expect(await checkPcrs(quote)).toContain('that the quote is of');
    expect([...nonceOfQuote(quote)]).toEqual([...sha256('abc')]);
    const manifest = createHash('sha3-256').update('{}').digest();
    expect([...(quote.pcrs.get(16) ?? [])]).toEqual([...sha256(Buffer.concat([Buffer.alloc(32), manifest]))]);
  });

  it.each([
    ['of Google', signedQuote('tpm-google'), '9009'],
    ['in the evidence of Trustee', quoteOfTrustee(), nonceOfTrustee],
  ])('are those of a vTPM %s, of which no byte may be another', async (_, { key: its, quote: given }, nonce) => {
    expect(await checkQuote(given, its)).toContain('by the attestation key');
    expect(await checkPcrs(given)).toContain('that the quote is of');
    expect(Buffer.from(nonceOfQuote(given)).toString('hex')).toBe(nonce);
    const altered = (of: Uint8Array<ArrayBuffer>) =>
      [...of].map((_byte, at) => of.map((byte, place) => (place === at ? byte ^ (1 << (at % 8)) : byte)));
    for (const message of altered(given.message)) await expect(checkQuote({ ...given, message }, its)).rejects.toThrow();
    for (const signature of altered(given.signature)) await expect(checkQuote({ ...given, signature }, its)).rejects.toThrow();
    for (const [number, value] of given.pcrs) {
      for (const other of altered(value)) {
        const pcrs = new Map(given.pcrs).set(number, other);
        await expect(checkPcrs({ ...given, pcrs })).rejects.toThrow('the PCRs have the digest');
      }
    }
    await expect(checkQuote(given, key)).rejects.toThrow('it is not by the attestation key');
  });

  it('are refused where the key signs by SHA-1', () => {
    const { area, quote: message, sig } = read('tpm-google-sha1') as Vector;
    expect(() => parseQuotingKey(bytes(area))).toThrow('RSASSA with SHA-256');
    expect(() => parseTpmSignature(bytes(sig))).toThrow('RSASSA with SHA-256');
    expect(() => nonceOfQuote({ message: bytes(message), signature: bytes(sig), pcrs: new Map() })).toThrow('bank of SHA-256');
  });

  it('are refused at every length but their own', async () => {
    const cut = (of: Uint8Array<ArrayBuffer>) => [of.slice(0, -1), new Uint8Array([...of, 0]), of.slice(0, 8), new Uint8Array()];
    for (const area of cut(bytes(vector.area))) expect(() => parseQuotingKey(area)).toThrow();
    for (const signature of cut(bytes(vector.sig))) expect(() => parseTpmSignature(signature)).toThrow();
    for (const message of cut(bytes(vector.quote))) {
      await expect(checkQuote({ ...quote, message }, key)).rejects.toThrow();
      await expect(checkPcrs({ ...quote, message })).rejects.toThrow();
    }
  });
});
