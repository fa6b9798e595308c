import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkPcrs, checkQuote, nonceOfQuote, parseQuotingKey, parseTpmSignature } from '../../../packages/attestation/tpm.ts';

const vector = JSON.parse(readFileSync(new URL('vectors/tpm-simulator.json', import.meta.url), 'utf8')) as {
  area: string;
  quote: string;
  sig: string;
  pcrs: Record<string, string>;
};
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const sha256 = (of: string | Uint8Array) => createHash('sha256').update(of).digest();

describe('structures of a TPM', () => {
  const key = parseQuotingKey(bytes(vector.area));
  const pcrs = new Map(Object.entries(vector.pcrs).map(([number, value]) => [Number(number), bytes(value)]));
  const quote = { message: bytes(vector.quote), signature: parseTpmSignature(bytes(vector.sig)), pcrs };

  it('are those of the reference implementation', async () => {
    expect(await checkQuote(quote, key)).toContain('by the attestation key');
    expect(await checkPcrs(quote)).toContain('that the quote is of');
    expect([...nonceOfQuote(quote)]).toEqual([...sha256('abc')]);
    const manifest = createHash('sha3-256').update('{}').digest();
    expect([...(pcrs.get(16) ?? [])]).toEqual([...sha256(Buffer.concat([Buffer.alloc(32), manifest]))]);
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
