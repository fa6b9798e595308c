import { describe, expect, it } from 'vitest';
import { inlineLimitInBytes } from '../../../shared/rows/asset.ts';
import { decodeContent, matchChecksum } from '../../../shared/assets/given-content.ts';

const refusedAs = (code: string): Error => expect.objectContaining({ code }) as Error;

describe('decodeContent', () => {
  it.each(['', 'YQ==', 'YWI=', 'YWJj', '+/+/'])('decodes the base64 %j', (encoded) => {
    expect(decodeContent(encoded).bytes.toString('base64')).toBe(encoded);
  });

  it('gives the SHA3-256 of the content', () => {
    expect(decodeContent(btoa('abc')).checksum).toBe('3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532');
  });

  it.each(['YQ', 'YQ=', 'YQ===', 'Y===', 'YWJ-', 'YWJ\n', ' YQ=', 'YQ==YQ=='])('refuses %j, which is not base64', (encoded) => {
    expect(() => decodeContent(encoded)).toThrow(refusedAs('invalid_request'));
  });

  it('takes 4 MiB and refuses one more byte as too_large', () => {
    const content = Buffer.alloc(inlineLimitInBytes + 1);
    expect(decodeContent(content.subarray(1).toString('base64')).bytes.length).toBe(4 * 1024 * 1024);
    expect(() => decodeContent(content.toString('base64'))).toThrow(refusedAs('too_large'));
    expect(() => decodeContent(content.toString('base64'))).toThrow('presigned `upload`');
  });
});

describe('matchChecksum', () => {
  const content = decodeContent(btoa('abc'));

  it.each([undefined, null, content.checksum])('takes the checksum %j', (declared) => {
    expect(() => matchChecksum(content, declared)).not.toThrow();
  });

  it('refuses the checksum of other content', () => {
    const other = decodeContent(btoa('abd')).checksum;
    expect(() => matchChecksum(content, other)).toThrow(refusedAs('invalid_request'));
  });
});
