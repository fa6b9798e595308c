import { fetched, fetchLines, manifestLines } from 'computation-management-formats/source';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';

const host = 'files.example.com';

describe('source', () => {
  it.each([
    ['oci-image', 'docker://registry.example.com:5000/a@sha256:ab'],
    ['oci-image', 'oci://registry.example.com/a:1'],
    ['gcs', 'gs://bucket/a.csv'],
    ['https', `https://${host}/${'a'.repeat(2_048 - 26)}`],
    ['http', 'http://[::1]:8080/a%20b.csv'],
  ])('accepts %s at %s', (type, url) => {
    expect(v.safeParse(fetched.source, { type, url }).issues).toBeUndefined();
  });

  it.each([
    ['https', `http://${host}/a`, 'fits the scheme'],
    ['s3', 's3://bucket/a', 'not from S3'],
    ['https', 's3://bucket/a', 'not from S3'],
    ['https', `https://${host}/a?token=1`, 'without a query'],
    ['https', `https://${host}/a?`, 'without a query'],
    ['https', `https://bob:secret@${host}/a`, 'without a user'],
    ['https', `https://${host}/${'a'.repeat(2_048 - 25)}`, 'not 2049'],
    ['https', `https://${host}/a b`, 'without spaces'],
    ['https', `https://${host}\\@evil.example.com/`, 'without spaces'],
    ['https', 'https:///a', 'begins with'],
    ['oci-image', 'registry.example.com/a:1', 'begins with docker://'],
    ['ftp', 'ftp://host/a', 'Expected oci-image'],
  ])('refuses %s at %s', (type, url, reason) => {
    const { issues = [] } = v.safeParse(fetched.source, { type, url });
    expect(issues.map(({ message }) => message).join()).toContain(reason);
  });
});

describe('fetchLines', () => {
  it('says all that an agent is told about a file, and nothing of one that a party sends', () => {
    expect(fetchLines({ source: null, algo_type: null })).toEqual([]);
    const source = { url: 'https://files.example.com/a', kbs_resource_path: 'default/key/a' };
    const kbs = { url: 'https://kbs.example.com' };
    expect(fetchLines({ source, kbs, decompress: true, algo_type: 'bin', algo_args: ['a b'] })).toEqual([
      'fetched by the agent from https://files.example.com/a',
      'decrypted with the key default/key/a',
      'keys from https://kbs.example.com',
      'unpacked by the agent',
      'run as bin',
      'arguments ["a b"]',
    ]);
  });
});

describe('manifestLines', () => {
  it('says every member, also without a source, of another type, or that nobody knows, so that none passes for another', () => {
    const hash = [1];
    const source = { url: 'https://files.example.com/a', kbs_resource_path: 'k', encrypted: true };
    expect(manifestLines({ hash, source, kbs: { enabled: true } }, ['hash'])).toEqual([
      'fetched by the agent from https://files.example.com/a',
      'decrypted with the key k',
      'encrypted',
      'the agent may fetch it',
    ]);
    const strange = {
      kbs: { url: 'https://kbs.example.com', enabled: false },
      algo_type: 'bin, unpacked by the agent',
      algo_args: ['--all', 'é', 7],
      encrypted: true,
      decompress: 'yes',
      source: null,
      mount: { 'a.b\u202e': [], none: {} },
    };
    expect(manifestLines(strange)).toEqual([
      'keys from https://kbs.example.com',
      'also kbs.enabled: false',
      'run as "bin, unpacked by the agent"',
      'arguments ["--all","é" (not ASCII: U+00E9),7]',
      'also encrypted: true',
      'also decompress: yes',
      'also source: null',
      'also mount."a.b\\u{202E}": []',
      'also mount.none: {}',
    ]);
  });
});
