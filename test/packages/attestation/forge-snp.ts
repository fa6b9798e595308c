import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { OptionsOfTest } from './by-test-roots.ts';
import { encode, Tagged } from 'cborg';
import {
  authority,
  type CertificateSpec,
  der,
  type Extension,
  forgeCertificate,
  number,
  type Pair,
  spec,
} from './forge-certificates.ts';

const rsa = (): Pair => generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys = { ark: rsa(), ask: rsa(), asvk: rsa(), leaf: generateKeyPairSync('ec', { namedCurve: 'P-384' }) };
export const otherKeys = { rsa: rsa(), ec: generateKeyPairSync('ec', { namedCurve: 'P-384' }) };

export const certificate = 'the PEM of a certificate\n';
export const now = new Date('2026-06-01');
export const amd = '1.3.6.1.4.1.3704.1';
export const ia5 = (text: string) => der(0x16, Buffer.from(text));
const chip = Buffer.alloc(64, 7);
/** Bootloader, tee, four reserved, snp, microcode. */
const tcb = [3, 1, 0, 0, 0, 0, 8, 115];
/** FMC, bootloader, tee, snp, three reserved, microcode. */
const turinTcb = [2, 3, 1, 8, 0, 0, 0, 115];

/** The parts of a report and its certificates that differ by product: family and model, versions, their extensions, the size of the chip's number. */
export const products = {
  Milan: { cpu: [0x19, 1, 1], tcb, versions: [1, 2, 4, 5, 6, 7, 3, 8], chip: 64, structVersion: 0 },
  Genoa: { cpu: [0x19, 0x11, 1], tcb, versions: [1, 2, 4, 5, 6, 7, 3, 8], chip: 64, structVersion: 0 },
  Turin: { cpu: [0x1a, 2, 1], tcb: turinTcb, versions: [9, 1, 2, 3, 5, 6, 7, 8], chip: 8, structVersion: 1 },
};

export const snpProducts = ['Milan', 'Genoa', 'Turin'] as const;

/** The differences of a forged chain from one that is right. */
export interface SnpChange {
  /** Default: Milan. */
  product?: keyof typeof products;
  /** Changes the report before it is signed. */
  report?: (report: Buffer) => void;
  /** Changes the report after that. */
  signed?: (report: Buffer) => void;
  leaf?: Partial<CertificateSpec>;
  intermediate?: Partial<CertificateSpec>;
  root?: Partial<CertificateSpec>;
  extensions?: (extensions: Extension[]) => Extension[];
  vlek?: boolean;
  signer?: Pair;
}

/** Makes a report with its certificates up to a root of test keys, and options that it satisfies. */
export function forgeSnp(change: SnpChange = {}): { report: Buffer; certificates: Buffer[]; options: OptionsOfTest } {
  const { vlek = false, product = 'Milan' } = change;
  const of = products[product];
  const report = Buffer.alloc(0x4a0);
  report.writeUInt32LE(3, 0);
  report.writeUInt32LE((1 << 17) | (1 << 16), 0x08);
  report.writeUInt32LE(1, 0x34);
  report.writeUInt32LE(vlek ? 1 << 2 : 0, 0x48);
  createHash('sha512').update(certificate).digest().copy(report, 0x50);
  report.fill(0xab, 0x90, 0xc0);
  randomBytes(32).copy(report, 0x140);
  for (const at of [0x38, 0x180, 0x1e0, 0x1f0]) report.set(of.tcb, at);
  report.set(of.cpu, 0x188);
  report.set(chip.subarray(0, of.chip), 0x1a0);
  change.report?.(report);
  const by = change.signer ?? keys.leaf;
  const signature = sign('sha384', report.subarray(0, 0x2a0), { key: by.privateKey, dsaEncoding: 'ieee-p1363' });
  report.set(signature.subarray(0, 48).toReversed(), 0x2a0);
  report.set(signature.subarray(48).toReversed(), 0x2a0 + 72);
  change.signed?.(report);

  const [above, key] = vlek ? [`SEV-VLEK-${product}`, keys.asvk] : [`SEV-${product}`, keys.ask];
  const versions = of.versions.map((each, at) => ({ name: `${amd}.3.${each}`, value: number(of.tcb[at] ?? 0) }));
  const which = vlek ? { name: `${amd}.5`, value: ia5('CN=provider') } : { name: `${amd}.4`, value: chip.subarray(0, of.chip) };
  const named = { name: `${amd}.2`, value: ia5(product === 'Turin' ? product : `${product}-B0`) };
  const extensions = [{ name: `${amd}.1`, value: number(of.structVersion) }, named, ...versions, which];
  const leaf = {
    ...spec,
    subject: vlek ? 'SEV-VLEK' : 'SEV-VCEK',
    issuer: above,
    key: keys.leaf,
    signer: key,
    extensions: change.extensions?.(extensions) ?? extensions,
    ...change.leaf,
  };
  const intermediate = {
    ...spec,
    subject: above,
    issuer: `ARK-${product}`,
    key,
    signer: keys.ark,
    extensions: authority,
    ...change.intermediate,
  };
  const root = {
    ...spec,
    subject: `ARK-${product}`,
    issuer: `ARK-${product}`,
    key: keys.ark,
    signer: keys.ark,
    extensions: authority,
    ...change.root,
  };
  const certificates = [leaf, intermediate, root].map(forgeCertificate);
  return { report, certificates, options: { now, boundTo: { certificate }, certificates, roots: certificates.slice(2) } };
}

/** Writes the protobuf message that an agent sends: the report in fields, and its certificates. */
export function messageOf(report: Buffer, [leaf, intermediate, root]: Buffer[]): Buffer {
  const [at, n] = [
    (from: number, size: number) => report.subarray(from, from + size),
    (from: number, size: number) => report.readUIntLE(from, size),
  ];
  const big = (from: number) => report.readBigUInt64LE(from);
  const [family = 0, model = 0, stepping = 0] = at(0x188, 3);
  const eax = ((family - 0xf) << 20) | ((model >> 4) << 16) | (0xf << 8) | ((model & 0xf) << 4) | stepping;
  const values = [
    ...[
      n(0, 4),
      n(4, 4),
      big(8),
      at(0x10, 16),
      at(0x20, 16),
      n(0x30, 4),
      n(0x34, 4),
      big(0x38),
      big(0x40),
      n(0x48, 4),
      at(0x50, 64),
    ],
    ...[
      at(0x90, 48),
      at(0xc0, 32),
      at(0xe0, 48),
      at(0x110, 48),
      at(0x140, 32),
      at(0x160, 32),
      big(0x180),
      at(0x1a0, 64),
      big(0x1e0),
    ],
    ...[
      n(0x1e8, 1),
      n(0x1e9, 1),
      n(0x1ea, 1),
      n(0x1ec, 1),
      n(0x1ed, 1),
      n(0x1ee, 1),
      big(0x1f0),
      at(0x2a0, 512),
      eax,
      big(0x1f8),
      big(0x200),
    ],
  ];
  const fields = values.map((value, index) => field(index + 1, value));
  const chain = [leaf && field(1, leaf), intermediate && field(2, intermediate), root && field(3, root)].filter(
    (each) => each !== undefined,
  );
  return Buffer.concat([field(1, Buffer.concat(fields)), field(2, Buffer.concat(chain))]);
}

/** Writes a field of protobuf. Numbers that are zero are left out, as encoders do. */
export function field(index: number, value: number | bigint | Uint8Array): Buffer {
  if (value instanceof Uint8Array) return Buffer.concat([varint(BigInt(index * 8 + 2)), varint(BigInt(value.length)), value]);
  return BigInt(value) === 0n ? Buffer.alloc(0) : Buffer.concat([varint(BigInt(index * 8)), varint(BigInt(value))]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7n) {
    bytes.push(Number(left & 0x7fn) | (left >= 0x80n ? 0x80 : 0));
    if (left < 0x80n) return Buffer.from(bytes);
  }
}

/** Writes a token as the agent does, with claims under the names that it uses. */
export function coseOf(claims: Record<string, unknown>): Uint8Array {
  const payload = encode(new Map<unknown, unknown>([[1, 'issuer'], [10, Buffer.alloc(64)], ...Object.entries(claims)]));
  const header = new Map([[4, Buffer.from('issuer')]]);
  return encode(new Tagged(18, [encode(new Map([[1, -7]])), header, payload, Buffer.alloc(64)]));
}

/** Encodes claims as a JWT, with bytes in base64. */
export function jwtOf(claims: Record<string, unknown>): Uint8Array {
  const json = Object.entries(claims).map(([name, claim]) => [
    name,
    claim instanceof Uint8Array ? Buffer.from(claim).toString('base64') : claim,
  ]);
  const payload = Buffer.from(JSON.stringify(Object.fromEntries(json))).toString('base64url');
  return Buffer.from(`${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${payload}.c2ln`);
}
