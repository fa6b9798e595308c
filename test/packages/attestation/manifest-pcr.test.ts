import { describe, expect, it } from 'vitest';
import { agentJson, pcrWithManifest } from '../../../packages/attestation/manifest-pcr.ts';

const hash = Array.from({ length: 32 }, (_, at) => at * 8);
const user_key = Buffer.from('a key').toString('base64');
const manifest = {
  result_consumers: [{ user_key }, { user_key }],
  id: 'c1',
  name: 'a <b> & "c" \u2028 é 😀 \\ / \u0001\b\f\n\r\t\u007f',
  description: '',
  datasets: [
    { filename: 'a.csv', hash, user_key },
    {
      hash,
      filename: 'b.zip',
      user_key,
      decompress: true,
      source: { url: 'https://x.test/b', kbs_resource_path: 'a/key/1', encrypted: true },
      kbs: { enabled: true, url: 'https://k.test' },
    },
  ],
  algorithm: {
    user_key,
    hash,
    algo_args: ['--a', ''],
    algo_type: 'python',
    kbs: { enabled: true },
    source: { url: 'http://x.test/a' },
  },
};

describe('the JSON of a manifest as the agent writes it', () => {
  // The expected values are those of Go 1.26 with the structs of agent/computations.go of ultravioletrs/cocos 747aaaa5.
  it('has the order, the omissions and the escapes of Go', async () => {
    expect(agentJson(manifest)).toBe(
      '{"id":"c1","name":"a \\u003cb\\u003e \\u0026 \\"c\\" \\u2028 é 😀 \\\\ / \\u0001\\b\\f\\n\\r\\t","datasets":[{"hash":[0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248],"user_key":"YSBrZXk=","filename":"a.csv"},{"hash":[0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248],"user_key":"YSBrZXk=","filename":"b.zip","source":{"url":"https://x.test/b","kbs_resource_path":"a/key/1","encrypted":true},"decompress":true,"kbs":{"url":"https://k.test","enabled":true}}],"algorithm":{"hash":[0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248],"user_key":"YSBrZXk=","source":{"url":"http://x.test/a"},"algo_type":"python","algo_args":["--a",""],"kbs":{"enabled":true}},"result_consumers":[{"user_key":"YSBrZXk="},{"user_key":"YSBrZXk="}]}',
    );
    expect(await pcrWithManifest(manifest)).toBe('5c9db37f797ccb62b0733750395865add0238af1356e1185613a9a9274149db8');
    expect(await pcrWithManifest({ ...manifest, name: 'another' })).not.toBe(
      '5c9db37f797ccb62b0733750395865add0238af1356e1185613a9a9274149db8',
    );
  });
});
