import {
  checkPrimeSync,
  createPublicKey,
  generateKeyPairSync,
  generatePrimeSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { sshWireOf } from 'computation-management-formats/ssh-wire';
import sshpk from 'sshpk';
import { certificatePem, opensshKeys } from './openssh-keys.ts';

/** A text in a field that takes a key or certificates, and what must become of it. */
export interface KeyCase {
  what: string;
  field: 'key' | 'certificate' | 'certificates';
  text: string;
  /** Part of the reason of the refusal. null: it is taken. */
  refused: string | null;
}

const base64 = (content: string | Buffer) => Buffer.from(content).toString('base64');
const pem = (label: string, der: Buffer) =>
  `-----BEGIN ${label}-----\n${base64(der).replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;

/** Writes an element of DER. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

const ed25519Of = (point: Buffer) => Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), point]);
const bytesOf = (number: bigint) => {
  const digits = number.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
};
const pkcs1Of = (modulus: bigint, exponent = Buffer.of(1, 0, 1)) => {
  const bytes = bytesOf(modulus);
  return der(0x30, der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes), der(0x02, exponent));
};
const rsaOf = (modulus: bigint, exponent?: Buffer<ArrayBuffer>, name = '06092a864886f70d010101') =>
  der(0x30, der(0x30, Buffer.from(`${name}0500`, 'hex')), der(0x03, Buffer.of(0), pkcs1Of(modulus, exponent)));

const point = (y: bigint, sign = 0n) => Buffer.from((y | (sign << 255n)).toString(16).padStart(64, '0'), 'hex').reverse();
const prime = 2n ** 255n - 19n;
const ofOrder8 = [
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
];
const signs = (hex: string) => [
  Buffer.from(hex, 'hex'),
  Buffer.from(
    hex.replace(/(.)(.)$/, (_, digit: string, last) => (8 + Number(digit)).toString(16) + String(last)),
    'hex',
  ),
];
const smallPoints = [point(0n), point(0n, 1n), point(1n), point(prime - 1n), ...ofOrder8.flatMap(signs)];
const notCanonical = [point(prime), point(prime + 1n), point(prime + 18n), point(prime + 1n, 1n)];

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');
const modulusOf = (key: KeyObject) =>
  BigInt(`0x${Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url').toString('hex')}`);
const ofPrimes = generatePrimeSync(1025, { bigint: true });
const nextPrime = (number: bigint): bigint => (checkPrimeSync(number + 2n) ? number + 2n : nextPrime(number + 2n));
const weakModuli: [string, bigint, string][] = [
  ['an even modulus', modulusOf(rsa.publicKey) + 1n, 'is even'],
  ['a modulus of ones', 2n ** 2048n - 1n, 'small factor'],
  ['a modulus with the factor 65537', 65537n * (2n ** 2040n + 1n), 'small factor'],
  ['a square', ofPrimes ** 2n, 'is a square'],
  ['a product of close primes', ofPrimes * nextPrime(ofPrimes), 'close to each other'],
  ['a prime', generatePrimeSync(2048, { bigint: true }), 'is a prime'],
];

interface Spki {
  what: string;
  spki: Buffer;
  ssh: string;
  pkcs1?: Buffer;
  refused: string;
}

const sshLine = (type: string, spki: Buffer) => `${type} ${base64(Buffer.from(sshWireOf(spki)))}`;
const pointCase = (bytes: Buffer, refused: string): Spki => ({
  what: `the point ${bytes.toString('hex')}`,
  spki: ed25519Of(bytes),
  ssh: sshLine('ssh-ed25519', ed25519Of(bytes)),
  refused,
});
const modulusCase = ([what, modulus, refused]: (typeof weakModuli)[number]): Spki => ({
  what,
  spki: rsaOf(modulus),
  ssh: sshLine('ssh-rsa', rsaOf(modulus)),
  pkcs1: pkcs1Of(modulus),
  refused,
});
/** Keys with which anyone can sign. */
const weakKeys: Spki[] = [
  ...smallPoints.map((bytes) => pointCase(bytes, 'small order')),
  ...notCanonical.map((bytes) => pointCase(bytes, 'RFC 8032')),
  ...weakModuli.map(modulusCase),
];

/** Every form of a public key that the service reads. */
const formsOf = ({ spki, ssh, pkcs1 }: Pick<Spki, 'spki' | 'ssh' | 'pkcs1'>): Record<string, string> => ({
  'DER in base64': base64(spki),
  'PEM in base64': base64(pem('PUBLIC KEY', spki)),
  'OpenSSH line': ssh,
  'OpenSSH line with a comment': `${ssh} alice@example.com\n`,
  'OpenSSH line in base64': base64(ssh),
  'OpenSSH blob': ssh.split(' ')[1] ?? '',
  ...(pkcs1 && { 'PKCS#1 in base64': base64(pkcs1), 'PKCS#1 PEM in base64': base64(pem('RSA PUBLIC KEY', pkcs1)) }),
});

/** The certificate with another key in it, which is the sixth element after the version. Nobody checks the signature. */
function certificateWith(spki: Buffer, hasVersion = true): Buffer {
  const elementsIn = (bytes: Buffer): Buffer[] => {
    if (bytes.length === 0) return [];
    const first = bytes[1] ?? 0;
    const size = first < 0x80 ? 2 + first : 2 + (first & 0x7f) + bytes.readUIntBE(2, first & 0x7f);
    return [bytes.subarray(0, size), ...elementsIn(bytes.subarray(size))];
  };
  const contentOf = (element: Buffer) => element.subarray((element[1] ?? 0) < 0x80 ? 2 : 2 + ((element[1] ?? 0) & 0x7f));
  const [toBeSigned = Buffer.alloc(0), ...rest] = elementsIn(contentOf(new X509Certificate(certificatePem).raw));
  const elements = elementsIn(contentOf(toBeSigned)).with(6, spki);
  return der(0x30, der(0x30, ...elements.slice(hasVersion ? 0 : 1, hasVersion ? undefined : 7)), ...rest);
}

const encrypted = { cipher: 'aes-256-cbc', passphrase: 'x' } as const;
const privateKeys: Record<string, string | Buffer> = {
  'PKCS#8 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }),
  'PKCS#1 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs1' }),
  'SEC1 PEM': p256.privateKey.export({ format: 'pem', type: 'sec1' }),
  'encrypted PKCS#8 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs8', ...encrypted }),
  'encrypted PKCS#1 PEM': rsa.privateKey.export({ format: 'pem', type: 'pkcs1', ...encrypted }),
  'PKCS#8 DER': ed25519.privateKey.export({ format: 'der', type: 'pkcs8' }),
  'PKCS#8 DER of P-256': p256.privateKey.export({ format: 'der', type: 'pkcs8' }),
  'PKCS#1 DER': rsa.privateKey.export({ format: 'der', type: 'pkcs1' }),
  'SEC1 DER': p256.privateKey.export({ format: 'der', type: 'sec1' }),
  'encrypted PKCS#8 DER': rsa.privateKey.export({ format: 'der', type: 'pkcs8', ...encrypted }),
  ...Object.fromEntries(
    [rsa, p256, ed25519].map(({ privateKey }, at) => [`JWK ${at}`, JSON.stringify(privateKey.export({ format: 'jwk' }))]),
  ),
  'JWK in lines': JSON.stringify({ keys: [p256.privateKey.export({ format: 'jwk' })] }, null, 2),
  OpenSSH: sshpk.parsePrivateKey(rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }), 'pem').toString('ssh-private'),
  'OpenSSH behind its public half': `${opensshKeys[0]?.line ?? ''}\n-----BEGIN OPENSSH PRIVATE KEY-----\n`,
  'OpenSSH without armour': Buffer.from('openssh-key-v1\0\0\0\0\u0004none\0\0\0\u0004none', 'latin1'),
  'SSH.com': '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n',
  PuTTY: 'PuTTY-User-Key-File-3: ssh-ed25519\n',
};
const dresses: Record<string, (content: Buffer) => string> = {
  base64: base64,
  'base64 in lines': (content) => base64(content).replace(/.{64}/g, '$&\r\n'),
  'base64 twice': (content) => base64(base64(content)),
  base64url: (content) => content.toString('base64url'),
  hex: (content) => content.toString('hex'),
};
const dressed = (content: string | Buffer): Record<string, string> => ({
  ...(typeof content === 'string' ? { 'as it is': content, 'UTF-16 in base64': base64(Buffer.from(content, 'utf16le')) } : {}),
  ...Object.fromEntries(Object.entries(dresses).map(([name, dress]) => [name, dress(Buffer.from(content))])),
});

const fields = ['key', 'certificate', 'certificates'] as const;
const offCurve = Buffer.from(p256.publicKey.export({ format: 'der', type: 'spki' }));
offCurve[offCurve.length - 1] = (offCurve.at(-1) ?? 0) ^ 1;
const others: Record<string, Buffer> = {
  'a point off its curve': offCurve,
  'an Ed25519 point off its curve': ed25519Of(point(2n)),
  'an RSA key of 1024 bits': generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
    format: 'der',
    type: 'spki',
  }),
  'an RSA key of 2047 bits': rsaOf(2n ** 2046n + 1n),
  'an RSA key of 8193 bits': rsaOf(2n ** 8192n + 1n),
  'an RSA-PSS key': generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey.export({ format: 'der', type: 'spki' }),
  'an X25519 key': generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' }),
  'an Ed448 key': generateKeyPairSync('ed448').publicKey.export({ format: 'der', type: 'spki' }),
  'a secp256k1 key': generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'der', type: 'spki' }),
};
const exponents = ['AQ', 'AQAC', 'AQAAAAE'].map((e) =>
  createPublicKey({ key: { ...rsa.publicKey.export({ format: 'jwk' }), e }, format: 'jwk' }),
);

/** The element of DER in BER. */
const longer = (element: Buffer) => {
  const content = element.subarray((element[1] ?? 0) < 0x80 ? 2 : 2 + ((element[1] ?? 0) & 0x7f));
  return Buffer.concat([Buffer.of(element[0] ?? 0, 0x85, 0, 0, 0, content.length >> 8, content.length & 0xff), content]);
};
const even = rsaOf(modulusOf(rsa.publicKey) + 1n);
/** Keys that stand in certificates, where OpenSSL reads more than in keys. */
const inCertificates: [string, Buffer, string][] = [
  ...['01', '02', '0100000001'].map((exponent): [string, Buffer, string] => [
    `the exponent 0x${exponent}`,
    rsaOf(modulusOf(rsa.publicKey), Buffer.from(exponent, 'hex')),
    'unusual public exponent',
  ]),
  ['an even modulus of RSA-PSS', rsaOf(modulusOf(rsa.publicKey) + 1n, undefined, '06092a864886f70d01010a'), 'is even'],
  ['a modulus of 1024 bits', rsaOf(2n ** 1023n + 1n), 'has 1024 bits'],
  ['an even modulus of 8200 bits', rsaOf(2n ** 8199n), 'has 8200 bits'],
  ['an even modulus in BER', longer(even), 'cannot be read'],
  [
    'an even modulus of an indefinite length',
    Buffer.concat([Buffer.of(0x30, 0x80), even.subarray(4), Buffer.of(0, 0)]),
    'cannot be read',
  ],
  ['an algorithm in BER', der(0x30, longer(even.subarray(4, 19)), even.subarray(19)), 'cannot be read'],
  [
    'the name of an algorithm in BER',
    der(0x30, der(0x30, longer(even.subarray(6, 17)), Buffer.of(5, 0)), even.subarray(19)),
    'cannot be read',
  ],
  [
    'a key in BER within',
    der(0x30, even.subarray(4, 19), der(0x03, Buffer.of(0), longer(pkcs1Of(modulusOf(rsa.publicKey) + 1n)))),
    'has 1 bits',
  ],
];
const evenCertificate = certificateWith(even);
const lenient: Record<string, string> = {
  'with a header': pem('CERTIFICATE', evenCertificate).replace('\n', '\nX: a\n\n'),
  'with padding within': pem('CERTIFICATE', evenCertificate).replace('\n', '\n='),
};

const certificateDer = new X509Certificate(certificatePem).raw;
const taken = [rsa, p256, ed25519].map(({ publicKey }) => publicKey.export({ format: 'der', type: 'spki' }));

/** Keys and certificates of every kind in every field that takes one, made anew for each process. */
export const keyCorpus: KeyCase[] = [
  ...weakKeys.flatMap((key) => [
    ...Object.entries(formsOf(key)).map(([form, text]): KeyCase => ({
      what: `${key.what}, ${form}`,
      field: 'key',
      text,
      refused: key.refused,
    })),
    ...[true, false].flatMap((hasVersion) => {
      const text = pem('CERTIFICATE', certificateWith(key.spki, hasVersion));
      const what = `a certificate ${hasVersion ? 'with' : 'without'} version of ${key.what}`;
      return [
        { what, field: 'certificate' as const, text, refused: key.refused },
        { what: `${what}, after another`, field: 'certificates' as const, text: certificatePem + text, refused: key.refused },
      ];
    }),
  ]),
  ...inCertificates.flatMap(([what, spki, refused]) =>
    (['certificate', 'certificates'] as const).map((field): KeyCase => ({
      what: `a certificate of ${what}`,
      field,
      text: pem('CERTIFICATE', certificateWith(spki)),
      refused,
    })),
  ),
  ...Object.entries(lenient).map(([what, text]): KeyCase => ({
    what: `a certificate ${what}`,
    field: 'certificates',
    text,
    refused: 'cannot be read',
  })),
  ...Object.entries(privateKeys).flatMap(([what, content]) =>
    Object.entries(dressed(content)).flatMap(([dress, text]) =>
      fields.map((field): KeyCase => ({ what: `${what}, ${dress}`, field, text, refused: 'private key' })),
    ),
  ),
  ...[certificatePem, certificateDer].map((given): KeyCase => ({
    what: 'a certificate',
    field: 'key',
    text: base64(given),
    refused: 'This is a certificate',
  })),
  ...['ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256', 'sk-ssh-ed25519'].flatMap((type) => {
    const name = `${type}-cert-v01@openssh.com`;
    const blob = base64(Buffer.concat([Buffer.of(0, 0, 0, name.length), Buffer.from(name), Buffer.alloc(60)]));
    return [`${name} ${blob} alice`, base64(`${name} ${blob}\n`), blob].map((text): KeyCase => ({
      what: `an OpenSSH certificate of ${type}`,
      field: 'key',
      text,
      refused: 'This is an OpenSSH certificate',
    }));
  }),
  ...Object.entries(others).map(([what, spki]): KeyCase => ({
    what,
    field: 'key',
    text: base64(spki),
    refused: 'Expected one public key',
  })),
  ...exponents.map((key, at): KeyCase => ({
    what: `exponent ${at}`,
    field: 'key',
    text: base64(key.export({ format: 'der', type: 'spki' })),
    refused: 'unusual public exponent',
  })),
  ...taken.flatMap((spki, at) => [
    { what: `a good key ${at}`, field: 'key' as const, text: base64(spki), refused: null },
    ...(['certificate', 'certificates'] as const).map((field): KeyCase => ({
      what: `a good certificate ${at}`,
      field,
      text: pem('CERTIFICATE', certificateWith(spki)),
      refused: null,
    })),
  ]),
  ...opensshKeys.map(({ line }): KeyCase => ({ what: line.slice(0, 20), field: 'key', text: line, refused: null })),
  { what: 'a path', field: 'certificates', text: '/etc/ssl/agent.pem', refused: null },
];
