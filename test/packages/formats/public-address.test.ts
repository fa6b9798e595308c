import { nearHostIn } from 'computation-management-formats/public-address';
import { describe, expect, it } from 'vitest';

describe('nearHostIn', () => {
  it.each([
    [
      'loopback',
      ['127.0.0.1', '127.255.0.9', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0x7f.1', '%3127.0.0.1', '127.0.0.1.'],
    ],
    ['loopback', ['0.0.0.0', '0', 'localhost', 'LOCALHOST.', 'a.localhost', 'localhost.localdomain', 'ip6-localhost']],
    [
      'loopback',
      ['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::127.0.0.1]'],
    ],
    [
      'link-local',
      ['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '[::ffff:169.254.169.254]'],
    ],
    ['link-local', ['[fe80::1]', '[FEBF::1]', '[fd00:ec2::254]', 'metadata.google.internal']],
  ] as const)('says %s of each spelling: %j', (near, hosts) => {
    for (const host of hosts) {
      for (const scheme of ['http', 'https', 'docker', 'oci', 'gs']) {
        expect([host, scheme, nearHostIn(`${scheme}://${host}/latest/meta-data/`)]).toEqual([host, scheme, near]);
      }
      expect(nearHostIn(`http://${host}:8080`)).toBe(near);
    }
  });

  it.each([
    'example.com',
    '127.0.0.1.example.com',
    'localhost.example.com',
    '169.25.4.1',
    '10.0.0.1',
    '[2001:db8::1]',
    '[::ffff:8.8.8.8]',
    '[fec0::1]',
    '[::1:1:1]',
  ])('says nothing of %s', (host) => {
    expect(nearHostIn(`https://${host}/127.0.0.1`)).toBeUndefined();
  });

  it('says nothing of what is no address', () => {
    expect(['', 'localhost', 'docker://ubuntu:latest', 'https://'].map(nearHostIn)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
