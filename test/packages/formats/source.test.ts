import { fetched } from 'computation-management-formats/source';
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
