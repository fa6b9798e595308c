import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  makeChallenge,
  openChallenge,
  parseAttestRequest,
  readToken,
  reportDataOf,
  sealForTee,
  teeThumbprint,
  tokenInput,
  tokenOfEvidence,
} from 'computation-management-key-release';
import { describe, expect, it } from 'vitest';
import { openJwe } from './open-jwe.ts';

const now = new Date('2026-11-29T12:00:00Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const key = { secret: randomBytes(32), audience: 'd1' };
const jwkOf = (publicKey: KeyObject) => publicKey.export({ format: 'jwk' });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });

describe('a challenge', () => {
  it('opens for 5 minutes', () => {
    const challenge = makeChallenge(key, now);
    expect([openChallenge(key, challenge, now), openChallenge(key, challenge, later(300))]).toEqual([now, now]);
    expect(() => openChallenge(key, challenge, later(301))).toThrow('older than 5 minutes');
  });

  it.each([
    ['of another secret', makeChallenge({ ...key, secret: randomBytes(32) }, now)],
    ['of another audience', makeChallenge({ ...key, audience: 'd2' }, now)],
    ['in another spelling', { ...makeChallenge(key, now), nonce: `${makeChallenge(key, now).nonce} ` }],
    ['with the session of another', { ...makeChallenge(key, now), session: makeChallenge(key, now).session }],
    ['without a session', { ...makeChallenge(key, now), session: '' }],
    ['that is empty', { nonce: '', session: '' }],
    ['of the future', makeChallenge(key, later(120))],
  ])('is refused %s', (_, challenge) => {
    expect(() => openChallenge(key, challenge, now)).toThrow(expect.objectContaining({ again: true }));
  });
});

describe('a key', () => {
  it.each([
    ['EC on P-256', () => ec('P-256'), ['alg', 'enc', 'epk']],
    ['EC on P-521', () => ec('P-521'), ['alg', 'enc', 'epk']],
    ['RSA', () => rsa(2_048), ['alg', 'enc']],
  ] as const)('is read by the TEE that made a key of %s, and by no other', (_, make, members) => {
    const [tee, other, secret] = [make(), make(), randomBytes(32)];
    const jwe = { ...sealForTee(secret, jwkOf(tee.publicKey)) };
    const header = JSON.parse(Buffer.from(jwe.protected, 'base64url').toString()) as Record<string, object>;
    expect([Object.keys(header), header['epk'] && Object.keys(header['epk'])]).toEqual([
      members,
      members.length === 3 ? ['crv', 'kty', 'x', 'y'] : undefined,
    ]);
    expect(openJwe(jwe, tee.privateKey)).toEqual(secret);
    expect(() => openJwe(jwe, other.privateKey)).toThrow();
  });

  it.each([
    ['EC on P-384', jwkOf(ec('P-384').publicKey)],
    ['RSA of 1,024 bits', jwkOf(rsa(1_024).publicKey)],
    ['another algorithm', { ...jwkOf(rsa(2_048).publicKey), alg: 'RSA1_5' }],
    ['a point that is not on the curve', { ...jwkOf(ec('P-256').publicKey), x: Buffer.alloc(32, 1).toString('base64url') }],
    ['a private key of another kind', { kty: 'oct', k: 'AAAA' }],
  ])('is not sealed for %s', (_, jwk) => {
    expect(() => sealForTee(randomBytes(32), jwk)).toThrow(/tee-pubkey is/);
  });

  it('of a TEE has the thumbprint of RFC 7638, section 3.1, whatever else its members say', () => {
    const n =
      '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
    expect(teeThumbprint({ kty: 'RSA', n, e: 'AQAB', alg: 'RSA-OAEP-256', kid: '2011-04-29' })).toBe(
      'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    );
  });
});

describe('a request', () => {
  const teePublicKey = { ...jwkOf(ec('P-256').publicKey), alg: 'ECDH-ES+A256KW' };
  const body = (changed: object = {}) => ({
    'init-data': null,
    'runtime-data': { nonce: 'bm9uY2U=', 'tee-pubkey': teePublicKey },
    'tee-evidence': { primary_evidence: { quote: 'AA==' }, additional_evidence: '{}' },
    ...changed,
  });

  it('binds evidence to the nonce, the key of the TEE as it was sent, and the additional evidence', () => {
    const { reportData, nonce, evidence } = parseAttestRequest(JSON.stringify(body()));
    const { kty, crv, x, y, alg } = teePublicKey;
    const key = `{"alg":"${alg}","crv":"${crv}","kty":"${kty}","x":"${x}","y":"${y}"}`;
    const canonical = `{"additional-evidence":"{}","nonce":"bm9uY2U=","tee-pubkey":${key}}`;
    const expected = createHash('sha384').update(canonical).digest();
    expect(Buffer.from(reportData).toString('hex')).toBe(`${expected.toString('hex')}${'00'.repeat(16)}`);
    expect([nonce, Buffer.from(evidence).toString()]).toEqual(['bm9uY2U=', '{"quote":"AA=="}']);
    const more = { nonce, teePublicKey: { ...teePublicKey, kid: '1' }, additionalEvidence: '{}' };
    expect(reportDataOf(more)).not.toEqual(reportData);
  });

  it.each([
    ['{', 'The body is no JSON'],
    ['[]', 'The body must be an object'],
    ['{}', 'runtime-data must be an object'],
    [JSON.stringify(body({ 'tee-evidence': { primary_evidence: 'AA==' } })), 'primary_evidence must be an object'],
    [JSON.stringify(body({ 'tee-evidence': { primary_evidence: {}, additional_evidence: {} } })), 'must be a text'],
    [JSON.stringify(body({ 'runtime-data': { nonce: 1, 'tee-pubkey': teePublicKey } })), 'nonce must be a text'],
    [JSON.stringify(body({ 'runtime-data': { nonce: '' } })), 'tee-pubkey is no key'],
    [JSON.stringify(body({ 'runtime-data': { nonce: '\ud800', 'tee-pubkey': teePublicKey } })), 'no canonical JSON'],
    [JSON.stringify(body()).replace('{"quote":"AA=="}', `{"a":${'['.repeat(99_999)}${']'.repeat(99_999)}}`), 'is too deep'],
  ])('%.20s is refused: %s', (text, sentence) => {
    expect(() => parseAttestRequest(text)).toThrow(sentence);
  });
});

describe('a token', () => {
  const signer = ec('P-256');
  const keys = [ec('P-256'), signer].map(({ publicKey }) => jwkOf(publicKey) as { x: string; y: string });
  const claims = { session: 's1', audience: 'd1', platform: 'snp', status: 'affirming', teePublicKey: { kty: 'EC' } } as const;
  const input = tokenInput(claims, now);
  const token = `${input}.${sign('sha256', Buffer.from(input), { key: signer.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;

  it('opens its session for 5 minutes', async () => {
    expect(await readToken(token, { keys, audience: 'd1', now: later(299) })).toBe('s1');
    await expect(readToken(token, { keys, audience: 'd1', now: later(300) })).rejects.toThrow('has expired');
  });

  it('is refused with another key, for another audience, changed or cut off', async () => {
    const read = (given: string, audience = 'd1', by = keys) => readToken(given, { keys: by, audience, now });
    const refused = expect.objectContaining({ again: true });
    await expect(read(token, 'd1', keys.slice(0, 1))).rejects.toEqual(refused);
    await expect(read(token, 'd2')).rejects.toEqual(refused);
    await expect(read(token.replace('.e', '.f'))).rejects.toEqual(refused);
    await expect(read(`${token}.`)).rejects.toEqual(refused);
    await expect(read('')).rejects.toEqual(refused);
  });
});

describe('evidence', () => {
  it.each([
    ['SNP', { attestation_report: {} }],
    ['TDX', { quote: 'AA==' }],
    ['Azure', { version: 1, hcl_report: '', td_quote: '' }],
  ])('of %s becomes a token of that platform', (platform_type, members) => {
    const evidence = Buffer.from(JSON.stringify(members));
    const [, claims = ''] = Buffer.from(tokenOfEvidence(evidence)).toString().split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      platform_type,
      raw_report: evidence.toString('base64'),
    });
  });

  it('of the platform sample is refused', () => {
    expect(() => tokenOfEvidence(Buffer.from('{"svn":"1","report_data":"AA=="}'))).toThrow('no platform that proves anything');
  });
});
