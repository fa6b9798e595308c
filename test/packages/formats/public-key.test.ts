import { createPublicKey, generateKeyPairSync, generatePrimeSync, X509Certificate, type KeyObject } from 'node:crypto';
import { InvalidKeyError, parsePublicKey, sshWireKey } from 'computation-management-formats/public-key';
import fc from 'fast-check';
import sshpk from 'sshpk';
import { describe, expect, it } from 'vitest';
import { certificatePem, opensshKeys } from './openssh-keys.ts';

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

const base64 = (content: string | Buffer) => Buffer.from(content).toString('base64');
const pemOf = (key: KeyObject, type: 'spki' | 'pkcs1' = 'spki') => key.export({ format: 'pem', type }).toString();
const spkiOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });
const opensshOf = (key: KeyObject) => sshpk.parseKey(pemOf(key), 'pem').toString('ssh');
const blobOf = (key: KeyObject) => Buffer.from(opensshOf(key).split(' ')[1] ?? '', 'base64');

/** Writes an element of DER. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 0x80 ? Buffer.of(content.length) : Buffer.of(0x82, content.length >> 8, content.length & 0xff);
  return Buffer.concat([Buffer.of(tag), length, content]);
}

const bytesOf = (number: bigint) => {
  const digits = number.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
};
const ed25519Of = (point: Buffer) => Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), point]);
const rsaOf = (modulus: bigint) => {
  const bytes = bytesOf(modulus);
  const unsigned = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
  const key = der(0x30, der(0x02, unsigned), der(0x02, Buffer.of(1, 0, 1)));
  return der(0x30, Buffer.from('300d06092a864886f70d0101010500', 'hex'), der(0x03, Buffer.of(0), key));
};

/** Writes the same key as an OpenSSH line, without a library that would refuse it. */
function sshLineOf(spki: Buffer): string {
  const isPoint = spki.length === 44;
  const modulus = spki.subarray(32, spki.length - 5);
  const jwk = isPoint
    ? { kty: 'OKP', x: spki.subarray(-32).toString('base64url') }
    : { kty: 'RSA', e: 'AQAB', n: (modulus[0] === 0 ? modulus.subarray(1) : modulus).toString('base64url') };
  return `${isPoint ? 'ssh-ed25519' : 'ssh-rsa'} ${sshWireKey(jwk).toString('base64')}`;
}

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
  const privateForms: Record<string, string | Buffer> = {
    'PKCS#8 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }),
    'PKCS#1 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs1' }),
    'SEC1 PEM': p256.privateKey.export({ format: 'pem', type: 'sec1' }),
    'encrypted PKCS#8 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' }),
    'encrypted PKCS#1 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs1', cipher: 'aes-256-cbc', passphrase: 'x' }),
    'PKCS#8 DER': ed25519.privateKey.export({ format: 'der', type: 'pkcs8' }),
    'PKCS#1 DER': rsa.privateKey.export({ format: 'der', type: 'pkcs1' }),
    'SEC1 DER': p256.privateKey.export({ format: 'der', type: 'sec1' }),
    'encrypted PKCS#8 DER': rsa.privateKey.export({ format: 'der', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' }),
    OpenSSH: sshpk.parsePrivateKey(rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }), 'pem').toString('ssh-private'),
    'OpenSSH behind its public half': `${opensshOf(rsa.publicKey)}\n-----BEGIN OPENSSH PRIVATE KEY-----\n`,
    'SSH.com': '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n',
    PuTTY: 'PuTTY-User-Key-File-3: ssh-ed25519\n',
  };
  it.each(Object.keys(privateForms))('throws an error that calls it a private key: %s', (form) => {
    expect(refusal(base64(privateForms[form] ?? '')).message).toContain('private key');
  });

  it.each(Object.entries(privateForms).filter(([, form]) => typeof form === 'string'))(
    'throws an error that calls it a private key, without base64 around it: %s',
    (_form, content) => expect(refusal(String(content)).message).toContain('private key'),
  );

  it('throws InvalidKeyError for an OpenSSH line as it is that names another type or has a broken key', () => {
    const line = opensshOf(ed25519.publicKey);
    expect(refusal(line.replace('ssh-ed25519', 'ssh-rsa')).message).toContain('differs');
    expect(refusal(line.replace('AAAA', 'AAAB')).message).toContain('OpenSSH');
    expect(refusal(`${line}\n${line}`).message).toContain('Expected one public key');
  });

  it.each(['ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256', 'sk-ssh-ed25519'])(
    'says which file to send instead of a certificate of %s',
    (type) => {
      const name = `${type}-cert-v01@openssh.com`;
      const blob = Buffer.concat([Buffer.of(0, 0, 0, name.length), Buffer.from(name), Buffer.alloc(60)]).toString('base64');
      for (const form of [`${name} ${blob} alice`, base64(`${name} ${blob}\n`), blob]) {
        expect(refusal(form).message).toBe(
          'This is an OpenSSH certificate. Send the public key that it certifies, such as id_ed25519.pub and not id_ed25519-cert.pub.',
        );
      }
    },
  );

  it('throws an error that calls it a certificate, for PEM and DER', () => {
    expect(refusal(base64(certificatePem)).message).toContain('certificate');
    expect(refusal(base64(new X509Certificate(certificatePem).raw)).message).toContain('certificate');
  });

  it('accepts an RSA key of 2048 bits and refuses one of 2047 bits, which is as long in bytes', () => {
    const shorter = generateKeyPairSync('rsa', { modulusLength: 2047 }).publicKey;
    expect(shorter.asymmetricKeyDetails?.modulusLength).toBe(2047);
    expect(refusal(base64(spkiOf(shorter))).message).toContain('RSA (2048 to 8192 bits)');
    expect(parsePublicKey(base64(spkiOf(rsa.publicKey))).algorithm).toBe('rsa');
  });

  it('refuses an RSA key of more than 8,192 bits', () => {
    expect(refusal(base64(rsaOf(2n ** 8192n + 1n))).message).toContain('RSA (2048 to 8192 bits)');
  });

  const point = (y: bigint, sign = 0n) => Buffer.from((y | (sign << 255n)).toString(16).padStart(64, '0'), 'hex').reverse();
  const prime = 2n ** 255n - 19n;
  const ofOrder8 = Buffer.from('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 'hex');
  const other8 = Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex');
  const negative = (bytes: Buffer) => Buffer.from([...bytes.subarray(0, 31), (bytes[31] ?? 0) | 0x80]);
  const smallPoints = [
    point(0n),
    point(0n, 1n),
    point(1n),
    point(prime - 1n),
    ofOrder8,
    negative(ofOrder8),
    other8,
    negative(other8),
  ];
  const notCanonical = [point(prime), point(prime + 1n), point(prime + 18n), point(prime + 1n, 1n)];
  const modulusOf = (key: KeyObject) =>
    BigInt(`0x${Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url').toString('hex')}`);
  const ours = modulusOf(rsa.publicKey);
  const weakModuli: [string, bigint, RegExp][] = [
    ['an even modulus', ours + 1n, /even/],
    ['a modulus of ones', 2n ** 2048n - 1n, /small factor/],
    ['a modulus with the factor 65537', 65537n * (2n ** 2040n + 1n), /small factor/],
    ['a square', generatePrimeSync(1025, { bigint: true }) ** 2n, /square/],
    ['a prime', generatePrimeSync(2048, { bigint: true }), /prime/],
  ];

  it.each<[string, Buffer, RegExp]>([
    ...smallPoints.map((bytes): [string, Buffer, RegExp] => [
      `the point ${bytes.toString('hex')}`,
      ed25519Of(bytes),
      /small order/,
    ]),
    ...notCanonical.map((bytes): [string, Buffer, RegExp] => [
      `the point ${bytes.toString('hex')}`,
      ed25519Of(bytes),
      /RFC 8032/,
    ]),
    ...weakModuli.map(([what, modulus, named]): [string, Buffer, RegExp] => [what, rsaOf(modulus), named]),
  ])('refuses a key with which anyone can sign, as DER and OpenSSH, and says why: %s', (_what, der, named) => {
    expect(refusal(base64(der)).message).toMatch(named);
    expect(refusal(base64(der)).message).toContain('Anyone could sign');
    expect(refusal(sshLineOf(der)).message).toMatch(named);
  });

  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const others: Record<string, string | Buffer> = {
    'an RSA key of 1024 bits': spkiOf(weak),
    'an RSA key of 1024 bits, OpenSSH': opensshOf(weak),
    'an RSA key with exponent 1': spkiOf(
      createPublicKey({ key: { ...rsa.publicKey.export({ format: 'jwk' }), e: 'AQ' }, format: 'jwk' }),
    ),
    'an RSA key with an even exponent': spkiOf(
      createPublicKey({ key: { ...rsa.publicKey.export({ format: 'jwk' }), e: 'AQAC' }, format: 'jwk' }),
    ),
    'an RSA-PSS key': spkiOf(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey),
    'a DSA key': spkiOf(generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).publicKey),
    'an X25519 key': spkiOf(generateKeyPairSync('x25519').publicKey),
    'an Ed448 key': spkiOf(generateKeyPairSync('ed448').publicKey),
    'a secp256k1 key': spkiOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey),
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
  const onlyInvalid = (content: string) => {
    try {
      parsePublicKey(content);
    } catch (error) {
      if (!(error instanceof InvalidKeyError)) throw error;
    }
  };

  it('throws only InvalidKeyError for text and bytes', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String()), onlyInvalid), { numRuns: 500 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => onlyInvalid(base64(Buffer.from(bytes)))),
      { numRuns: 500 },
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
        if (taken) expect(parsePublicKey(base64(taken.spki))).toEqual(taken);
      }),
      { numRuns: 1_000 },
    );
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
