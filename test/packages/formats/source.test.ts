import { fetched, sourceTypeOf } from 'computation-management-formats/source';
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
    ['https', `https://${host}/x#token=SECRET`, 'Remove #'],
    ['https', `https://${host}#`, 'Remove #'],
    ['https', `https://${host}/a/../b`, 'two dots'],
    ['https', `https://${host}/a/%2e.%2Fb`, 'two dots'],
    ['https', `https://${host}/a/%252e%252e/b`, 'two dots'],
    ['oci-image', 'docker://registry/x:ghp_0123456789abcdefghij', 'looks like an access token'],
  ])('refuses %s at %s', (type, url, reason) => {
    const { issues = [] } = v.safeParse(fetched.source, { type, url });
    expect(issues.map(({ message }) => message).join()).toContain(reason);
  });
});

describe('a token of a known service', () => {
  const tokens = [
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'github_pat_11AAAAAAA0123456789',
    'glpat-xxxxxxxxxxxxxxxxxxxx',
    'AKIAIOSFODNN7EXAMPLE',
    'ASIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJSUzI1NiJ9',
    'xoxb-123456789012-abcdef',
    'AIzaSyA-1234567890',
    'ya29.a0AfH6',
    'npm_abcdefghijkl',
    'pypi-AgEIcHlwaS5vcmc',
    'dckr_pat_abcdefgh',
    'hvs.CAESIJ',
    'sk_live_abcdef',
    'SG.abcdef',
  ];
  const escaped = (text: string) => Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

  it.each(tokens)('is refused in each part of an address: %s', (token) => {
    const spellings = [token, escaped(token), `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`, escaped(escaped(token))];
    const urls = spellings.flatMap((each) => [
      `https://${host}/${each}`,
      `https://${host}/a;t=${each}/b`,
      `https://${host}/@${each}.csv`,
      `https://${host}/a-${each}`,
      `docker://${host}/x:${each}`,
    ]);
    const taken = urls.filter((url) => v.is(fetched.kbs, { url }) || v.is(fetched.source, { url, type: sourceTypeOf(url) }));
    expect(taken).toEqual([]);
    expect(v.is(fetched.kbs, { url: `https://${host}/${escaped(host)}` })).toBe(true);
  });

  it.each(['ASIA/2024.csv', 'xoxo.csv', 'npm_.csv', 'my-keyJ', 'sk-learn', 'dapple', 'hf_model', 'a.b/c.d', 'AKIAs'])(
    'is not seen in %s',
    (path) => {
      expect(v.safeParse(fetched.source, { type: 'https', url: `https://${host}/${path}` }).issues).toBeUndefined();
    },
  );
});

describe('the path of a key', () => {
  const isTaken = (kbs_resource_path: string) =>
    v.is(fetched.source, { type: 'https', url: `https://${host}/a`, kbs_resource_path });

  it.each(['default/key/a', 'a.b/..c/...', '0f/key/1'])('may be %s', (path) => {
    expect(isTaken(path)).toBe(true);
  });

  it.each(
    [
      [
        'a',
        'a/b',
        'a/b/c/d',
        '/a/b',
        'a//b',
        'a/b/',
        '../../admin',
        'a/../b',
        './a/b',
        'a/b/.',
        'a/b/..',
        '%2e%2e/a/b',
        'a/b/c?d',
      ],
      ['a/b/ghp_0123456789', 'eyJhbGci/b/c'],
    ].flat(),
  )('is refused: %s', (path) => {
    expect(isTaken(path)).toBe(false);
  });
});
