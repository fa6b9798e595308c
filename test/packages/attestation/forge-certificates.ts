import { constants, type KeyObject, sign } from 'node:crypto';

/** Writes DER. */
export function der(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const digits = body.length.toString(16);
  const size = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  const length = body.length < 0x80 ? Buffer.of(body.length) : Buffer.concat([Buffer.of(0x80 + size.length), size]);
  return Buffer.concat([Buffer.of(tag), length, body]);
}

export const sequence = (...content: Uint8Array[]) => der(0x30, ...content);
export const octets = (content: Uint8Array) => der(0x04, content);
export const number = (value: number) => der(0x02, Buffer.from(value.toString(16).padStart(value < 0x80 ? 2 : 6, '0'), 'hex'));

export function oid(name: string): Buffer {
  const [first = 0, second = 0, ...rest] = name.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Buffer.from(bytes));
}

const time = (date: Date) => der(0x18, Buffer.from(date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')));
const name = (common: string) => sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(common)))));

export interface Extension {
  name: string;
  value: Uint8Array;
  critical?: boolean;
}

export interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

export interface CertificateSpec {
  subject: string;
  issuer: string;
  key: Pair;
  signer: Pair;
  serial: number;
  from: Date;
  to: Date;
  extensions: Extension[];
}

export const authority: Extension[] = [
  { name: '2.5.29.19', value: sequence(der(0x01, Buffer.of(0xff))), critical: true },
  { name: '2.5.29.15', value: der(0x03, Buffer.of(1, 0x06)), critical: true },
];
export const spec = { serial: 1, from: new Date('2024-01-01'), to: new Date('2034-01-01') };

export function forgeCertificate(of: CertificateSpec): Buffer {
  const extensions = of.extensions.map(({ name: extension, value, critical }) =>
    sequence(oid(extension), ...(critical ? [der(0x01, Buffer.of(0xff))] : []), octets(value)),
  );
  return signed(
    of.signer,
    der(0xa0, number(2)),
    number(of.serial),
    algorithm(of.signer),
    name(of.issuer),
    sequence(time(of.from), time(of.to)),
    name(of.subject),
    of.key.publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(...extensions)),
  );
}

export interface RevocationSpec {
  issuer: string;
  signer: Pair;
  from: Date;
  to: Date;
  serials: number[];
}

export function forgeRevocationList(of: RevocationSpec): Buffer {
  const revoked = of.serials.map((serial) => sequence(number(serial), time(of.from)));
  const list = revoked.length === 0 ? [] : [sequence(...revoked)];
  return signed(of.signer, number(1), algorithm(of.signer), name(of.issuer), time(of.from), time(of.to), ...list);
}

function algorithm({ privateKey }: Pair): Buffer {
  return sequence(oid(privateKey.asymmetricKeyType === 'rsa' ? '1.2.840.113549.1.1.10' : '1.2.840.10045.4.3.2'));
}

function signed(by: Pair, ...fields: Uint8Array[]): Buffer {
  const body = sequence(...fields);
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
  const signature =
    by.privateKey.asymmetricKeyType === 'rsa'
      ? sign('sha384', body, { key: by.privateKey, ...pss })
      : sign('sha256', body, by.privateKey);
  return sequence(body, algorithm(by), der(0x03, Buffer.of(0), signature));
}

export function pem(certificate: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}
