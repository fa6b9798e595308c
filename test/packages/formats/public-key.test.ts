import { createPublicKey, generateKeyPairSync, generatePrimeSync, type KeyObject } from 'node:crypto';
import { toBase64 } from 'computation-management-formats/bytes';
import { InvalidKeyError, parsePublicKey } from 'computation-management-formats/public-key';
import fc from 'fast-check';
import sshpk from 'sshpk';
import { describe, expect, it } from 'vitest';
import * as ofBrowsers from '../../../packages/formats/primitives.browser.ts';
import * as ofNode from '../../../packages/formats/primitives.ts';
import { amount } from '../../support/amounts.ts';
import { keyCorpus } from './key-corpus.ts';
import { verdictOf } from './key-verdicts.ts';
import { opensshKeys } from './openssh-keys.ts';

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const pairs: Record<'rsa' | 'p256' | 'p384' | 'p521' | 'ed25519', Pair> = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  p384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  p521: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  ed25519: generateKeyPairSync('ed25519'),
};
const kinds = Object.keys(pairs) as (keyof typeof pairs)[];

const base64 = (content: string | Uint8Array) => Buffer.from(content).toString('base64');
const pemOf = (key: KeyObject, type: 'spki' | 'pkcs1' = 'spki') => key.export({ format: 'pem', type }).toString();
const spkiOf = (key: KeyObject) => new Uint8Array(key.export({ format: 'der', type: 'spki' }));
const opensshOf = (key: KeyObject) => sshpk.parseKey(pemOf(key), 'pem').toString('ssh');
const blobOf = (key: KeyObject) => Buffer.from(opensshOf(key).split(' ')[1] ?? '', 'base64');

function refusal(content: string): InvalidKeyError {
  try {
    parsePublicKey(content);
  } catch (error) {
    if (error instanceof InvalidKeyError) return error;
    throw error;
  }
  throw new Error('The key was taken.');
}

describe('parsePublicKey with a valid key', () => {
  it.each(opensshKeys)('returns the fingerprint that ssh-keygen -lf prints for an $algorithm line ($fingerprint)', (given) => {
    const key = parsePublicKey(base64(`${given.line}\n`));
    expect(key).toMatchObject({ algorithm: given.algorithm, fingerprint: given.fingerprint });
    expect(key.spki).toEqual(spkiOf(createPublicKey(sshpk.parseKey(given.line, 'ssh').toString('pkcs8'))));
  });

  it.each(kinds)('returns the same %s key for an OpenSSH line, its decoded part, PEM and DER', (kind) => {
    const { publicKey } = pairs[kind];
    const spki = spkiOf(publicKey);
    const fingerprint = sshpk.parseKey(pemOf(publicKey), 'pem').fingerprint('sha256').toString();
    const line = opensshOf(publicKey);
    const withoutComment = line.split(' ').slice(0, 2).join(' ');
    const forms = [line, withoutComment, `${line} a comment of several words\r\n`, blobOf(publicKey), pemOf(publicKey), spki];
    for (const form of forms) {
      expect(parsePublicKey(base64(form))).toMatchObject({ spki, fingerprint });
    }
  });

  it.each(kinds)('accepts an OpenSSH line of a %s key as it is, with and without a comment', (kind) => {
    const { publicKey } = pairs[kind];
    const line = opensshOf(publicKey);
    const withoutComment = line.split(' ').slice(0, 2).join(' ');
    for (const form of [line, withoutComment, `${withoutComment} zoë@example.com\n`]) {
      expect(parsePublicKey(form).spki).toEqual(spkiOf(publicKey));
    }
  });

  it('returns the algorithm of each kind of key', () => {
    const algorithms = kinds.map((kind) => parsePublicKey(base64(spkiOf(pairs[kind].publicKey))).algorithm);
    expect(algorithms).toEqual(['rsa', 'ecdsa', 'ecdsa', 'ecdsa', 'ed25519']);
  });

  it('accepts PKCS#1 as PEM and DER', () => {
    const { publicKey } = pairs.rsa;
    const spki = spkiOf(publicKey);
    expect(parsePublicKey(base64(pemOf(publicKey, 'pkcs1'))).spki).toEqual(spki);
    expect(parsePublicKey(base64(publicKey.export({ format: 'der', type: 'pkcs1' }))).spki).toEqual(spki);
  });

  it('accepts PEM with Windows line ends and base64 with line breaks', () => {
    const spki = spkiOf(pairs.rsa.publicKey);
    const windows = pemOf(pairs.rsa.publicKey).replaceAll('\n', '\r\n');
    const wrapped = base64(windows).replace(/.{76}/g, '$&\r\n');
    expect(parsePublicKey(wrapped).spki).toEqual(spki);
  });

  it('returns a compressed point uncompressed, the form that Go reads', () => {
    const spki = spkiOf(pairs.p256.publicKey);
    const header = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex');
    const [x, y] = [spki.subarray(-64, -32), spki.subarray(-32)];
    const compressed = Buffer.concat([header, Buffer.of(2 + ((y.at(-1) ?? 0) & 1)), x]);
    expect(parsePublicKey(base64(compressed)).spki).toEqual(spki);
  });
});

describe('parsePublicKey with an invalid key', () => {
  const { rsa, p256, ed25519 } = pairs;
  it.each(['key', 'certificate', 'certificates'] as const)('says why, in a field for a %s', (field) => {
    const cases = keyCorpus.filter((each) => each.field === field);
    const wrong = cases.filter((each) => !verdictOf(each).includes(each.refused ?? 'taken:'));
    expect([cases.length > 100, wrong.map(({ what }) => what)]).toEqual([true, []]);
  });

  it('throws InvalidKeyError for an OpenSSH line as it is that names another type or has a broken key', () => {
    const line = opensshOf(ed25519.publicKey);
    expect(refusal(line.replace('ssh-ed25519', 'ssh-rsa')).message).toContain('differs');
    expect(refusal(line.replace('AAAA', 'AAAB')).message).toContain('OpenSSH');
    expect(refusal(`${line}\n${line}`).message).toContain('Expected one public key');
  });

  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const others: Record<string, string | Uint8Array> = {
    'an RSA key of 1024 bits, OpenSSH': opensshOf(weak),
    'a DSA key': spkiOf(generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).publicKey),
    'a key of a hardware token': 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIA==',
    'DER with data after it': Buffer.concat([spkiOf(ed25519.publicKey), Buffer.of(0)]),
    'truncated DER': spkiOf(ed25519.publicKey).subarray(0, -1),
    'PEM with text after it': `${pemOf(ed25519.publicKey)}more`,
    'PEM twice': pemOf(ed25519.publicKey).repeat(2),
    'PEM whose labels differ': pemOf(ed25519.publicKey).replace('END PUBLIC', 'END RSA PUBLIC'),
    'two OpenSSH lines': `${opensshOf(ed25519.publicKey)}\n${opensshOf(rsa.publicKey)}`,
    'an OpenSSH blob with data after it': Buffer.concat([blobOf(ed25519.publicKey), Buffer.of(0, 0, 0, 0)]),
    'a truncated OpenSSH blob': blobOf(rsa.publicKey).subarray(0, -1),
    'an OpenSSH line that begins with another type': opensshOf(ed25519.publicKey).replace('ssh-ed25519', 'ssh-rsa'),
    'an OpenSSH line with options': `no-pty ${opensshOf(ed25519.publicKey)}`,
    'an OpenSSH point off its curve': Buffer.concat([
      blobOf(p256.publicKey).subarray(0, -1),
      Buffer.of(~(blobOf(p256.publicKey).at(-1) ?? 0) & 0xff),
    ]),
    'an RSA modulus with a needless zero': needlessZero(blobOf(rsa.publicKey)),
    'no content': '',
    'any text': 'hello',
  };
  it.each(Object.keys(others))('throws InvalidKeyError for %s', (what) => {
    expect(refusal(base64(others[what] ?? ''))).toBeInstanceOf(InvalidKeyError);
  });

  const spki = base64(spkiOf(rsa.publicKey));
  const notBase64: Record<string, string> = {
    base64url: Buffer.from(Array.from({ length: 64 }, (_, index) => 255 - index)).toString('base64url'),
    'base64 without its padding': base64('ssh-ed25519 A').replaceAll('=', ''),
    'PEM itself': pemOf(rsa.publicKey),
    'base64 with other characters in it': `${spki.slice(0, 40)}!${spki.slice(40)}`,
    'more than 16,384 characters': `${spki}${' '.repeat(16_384)}`,
  };
  it.each(Object.keys(notBase64))('throws an error with the expected form for %s', (what) => {
    expect(refusal(notBase64[what] ?? '').message).toContain('Expected one public key: an OpenSSH line such as');
  });

  it('never repeats the input in its error', () => {
    const secret = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ';
    expect(refusal(base64(`-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`)).message).not.toContain(secret);
  });
});

describe('parsePublicKey with random input', () => {
  const numRuns = amount({ sample: 200, full: 1_000 });
  const onlyInvalid = (content: string) => {
    try {
      parsePublicKey(content);
    } catch (error) {
      if (!(error instanceof InvalidKeyError)) throw error;
    }
  };

  it('throws only InvalidKeyError for text and bytes', () => {
    const unit = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)); // 'binary' of fast-check takes a second to begin
    fc.assert(fc.property(fc.oneof(fc.string({ unit }), fc.base64String()), onlyInvalid), { numRuns });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => onlyInvalid(base64(Buffer.from(bytes)))),
      { numRuns },
    );
  });

  it('throws only InvalidKeyError for damaged keys, and parses its own output to the same key', () => {
    const whole = kinds.flatMap((kind) => [
      spkiOf(pairs[kind].publicKey),
      blobOf(pairs[kind].publicKey),
      Buffer.from(pemOf(pairs[kind].publicKey)),
      Buffer.from(opensshOf(pairs[kind].publicKey)),
      pairs[kind].privateKey.export({ format: 'der', type: 'pkcs8' }),
    ]);
    const damage = fc.record({ of: fc.constantFrom(...whole), at: fc.nat(), byte: fc.nat(255), cut: fc.nat(40) });
    fc.assert(
      fc.property(damage, ({ of, at, byte, cut }) => {
        const bytes = Buffer.from(of);
        bytes[at % bytes.length] = byte;
        const content = base64(bytes.subarray(0, Math.max(1, bytes.length - Math.max(0, cut - 20))));
        onlyInvalid(content);
        const taken = takenOrUndefined(content);
        if (taken) expect(parsePublicKey(toBase64(taken.spki))).toEqual(taken);
      }),
      { numRuns },
    );
  });
});

describe('the primitives of browsers', () => {
  it('return what those of Node do', () => {
    const texts = ['', 'Sépalen', '\ud800', 'x'.repeat(1_000)];
    const prime = generatePrimeSync(256, { bigint: true });
    const half = 1116944856631015901601445314571n;
    const pseudoprime = half * (2n * half - 1n);
    const results = [ofNode, ofBrowsers].map(({ sha256, sha3, passesForPrime }) => [
      ...[...texts, Uint8Array.of(0, 255)].map((data) => Buffer.from(sha256(data)).toString('hex')),
      ...texts.map((data) => Buffer.from(sha3(data)).toString('hex')),
      ...[prime, prime + 2n * 3n * 5n * 7n * prime, 2n ** 61n - 1n, pseudoprime].map(passesForPrime),
    ]);
    expect(results[1]).toEqual(results[0]);
  });
});

function takenOrUndefined(content: string) {
  try {
    return parsePublicKey(content);
  } catch {
    return undefined;
  }
}

/** Adds a leading zero byte to the last number of an ssh-rsa blob. */
function needlessZero(blob: Buffer): Buffer {
  const length = 4 + 256 + 1;
  const modulus = blob.subarray(-length + 4);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(modulus.length + 1);
  return Buffer.concat([blob.subarray(0, -length), head, Buffer.of(0), modulus]);
}
