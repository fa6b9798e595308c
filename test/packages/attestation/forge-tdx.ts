import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { TdxCollateral } from 'computation-management-attestation';
import type { OptionsOfTest } from './by-test-roots.ts';
import {
  authority,
  type CertificateSpec,
  type Extension,
  forgeCertificate,
  forgeRevocationList,
  number,
  octets,
  oid,
  type Pair,
  pem,
  type RevocationSpec,
  sequence,
  spec,
} from './forge-certificates.ts';
import { certificate, now } from './forge-snp.ts';

const pair = (): Pair => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = { root: pair(), authority: pair(), platform: pair(), signer: pair(), enclave: pair() };
export const otherKey = pair();
const intel = '1.2.840.113741.1.13.1';
const fmspc = '00806f050000';
const versions = [2, 2, 2, 2, 3, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0];

type Document = Record<string, unknown>;
type Level = { tcb: Document; tcbStatus: string };

/** The differences of a forged quote and its collateral from those that are right. */
export interface TdxChange {
  version?: 4 | 5;
  /** Changes header and body before they are signed. Offsets in the body are from `bodyOf` them. */
  quote?: (bytes: Buffer) => void;
  enclave?: (report: Buffer) => void;
  /** Changes the whole quote. */
  signed?: (bytes: Buffer) => Buffer;
  enclaveSigner?: Pair;
  quoteSigner?: Pair;
  platform?: Partial<CertificateSpec>;
  /** The extension of Intel. */
  extension?: { fmspc?: string; pceId?: string; pceSvn?: number; cpuSvn?: number[] };
  authority?: Partial<CertificateSpec>;
  root?: Partial<CertificateSpec>;
  signer?: Partial<CertificateSpec>;
  tcbInfo?: (document: Document & { tcbLevels: Level[]; tdxModuleIdentities: (Document & { tcbLevels: Level[] })[] }) => void;
  identity?: (document: Document & { tcbLevels: Level[] }) => void;
  pckCrl?: Partial<RevocationSpec>;
  rootCrl?: Partial<RevocationSpec>;
  collateral?: Partial<TdxCollateral>;
}

/** Returns the place where the body of a quote begins, which depends on its version. */
export const bodyOf = (quote: Buffer) => (quote.readUInt16LE(0) === 4 ? 48 : 54);

/** Makes the collateral current from a year before a day to a year after it. */
export function currentAt(day: string): TdxChange {
  const [issueDate, nextUpdate] = [-1, 1].map((years) => new Date(Date.parse(day) + years * 365 * 24 * 3_600_000));
  const [from = new Date(), to = from] = [issueDate, nextUpdate];
  const dated = (document: Document) => void Object.assign(document, { issueDate, nextUpdate });
  return { tcbInfo: dated, identity: dated, pckCrl: { from, to }, rootCrl: { from, to } };
}

/** Makes a quote with collateral and a root of test keys, and options that it satisfies. */
export function forgeTdx(change: TdxChange = {}): { quote: Buffer; options: OptionsOfTest; collateral: TdxCollateral } {
  const root = {
    ...spec,
    subject: 'Root',
    issuer: 'Root',
    key: keys.root,
    signer: keys.root,
    extensions: authority,
    ...change.root,
  };
  const middle = {
    ...spec,
    serial: 2,
    subject: 'PCK CA',
    issuer: 'Root',
    key: keys.authority,
    signer: keys.root,
    extensions: authority,
  };
  const platform = {
    ...spec,
    serial: 3,
    subject: 'Intel SGX PCK Certificate',
    issuer: 'PCK CA',
    key: keys.platform,
    signer: keys.authority,
    extensions: [platformExtension(change.extension)],
    ...change.platform,
  };
  const signer = {
    ...spec,
    serial: 4,
    subject: 'Intel SGX TCB Signing',
    issuer: 'Root',
    key: keys.signer,
    signer: keys.root,
    extensions: [],
  };
  const rootCertificate = forgeCertificate(root);
  const chain = [platform, { ...middle, ...change.authority }].map((each) => pem(forgeCertificate(each))).join('');
  const collateral = forgeCollateral(change, pem(forgeCertificate({ ...signer, ...change.signer })));
  const quote = forgeQuote(change, Buffer.from(chain + pem(rootCertificate)));
  return { quote, collateral, options: { now, boundTo: { certificate }, collateral: [collateral], roots: [rootCertificate] } };
}

function platformExtension({ fmspc: family = fmspc, pceId = '0000', pceSvn = 13, cpuSvn = versions } = {}): Extension {
  const entry = (name: string, value: Uint8Array) => sequence(oid(`${intel}.${name}`), value);
  const tcb = sequence(entry('2.17', number(pceSvn)), entry('2.18', octets(Buffer.from(cpuSvn))));
  const identifiers = [entry('3', octets(Buffer.from(pceId, 'hex'))), entry('4', octets(Buffer.from(family, 'hex')))];
  return { name: intel, value: sequence(entry('2', tcb), ...identifiers) };
}

function forgeQuote(change: TdxChange, certificates: Buffer): Buffer {
  const { version = 5 } = change;
  const header = Buffer.alloc(48);
  header.writeUInt16LE(version, 0);
  header.writeUInt16LE(2, 2);
  header.writeUInt32LE(0x81, 4);
  header.write('939a7233f79c4ca9940a0db3957f0607', 12, 'hex');
  const description = Buffer.alloc(version === 5 ? 6 : 0);
  if (version === 5) description.writeUInt16LE(3, 0);
  if (version === 5) description.writeUInt32LE(648, 2);
  const body = Buffer.alloc(version === 5 ? 648 : 584);
  body.set([5, 1, 2], 0);
  body[120 + 3] = 0x10;
  body.fill(0xcd, 136, 184);
  createHash('sha512').update(certificate).digest().copy(body, 520);
  const signedBytes = Buffer.concat([header, description, body]);
  change.quote?.(signedBytes);

  const key = Buffer.concat(
    ['x', 'y'].map((part) => Buffer.from(String(keys.enclave.publicKey.export({ format: 'jwk' })[part]), 'base64url')),
  );
  const authentication = Buffer.alloc(32, 1);
  const report = Buffer.alloc(384);
  report.set([0x11], 48);
  report.fill(0xaa, 128, 160);
  report.writeUInt16LE(2, 256);
  report.writeUInt16LE(4, 258);
  createHash('sha256').update(key).update(authentication).digest().copy(report, 320);
  change.enclave?.(report);
  const by = (pair: Pair, bytes: Buffer) => sign('sha256', bytes, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' });
  const vouched = [report, by(change.enclaveSigner ?? keys.platform, report), little(2, 32), authentication];
  const certification = Buffer.concat([...vouched, little(2, 5), little(4, certificates.length), certificates]);
  const signature = [
    by(change.quoteSigner ?? keys.enclave, signedBytes),
    key,
    little(2, 6),
    little(4, certification.length),
    certification,
  ];
  const data = Buffer.concat(signature);
  const quote = Buffer.concat([signedBytes, little(4, data.length), data]);
  return change.signed?.(quote) ?? quote;
}

function little(size: number, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, size);
  return bytes;
}

function forgeCollateral(change: TdxChange, chain: string): TdxCollateral {
  const dates = { issueDate: '2026-05-20T00:00:00Z', nextUpdate: '2026-06-20T00:00:00Z' };
  const module = { mrsigner: '00'.repeat(48), attributes: '00'.repeat(8), attributesMask: 'FF'.repeat(8) };
  const components = (from: number[]) => from.map((svn) => ({ svn }));
  const tcb = {
    sgxtcbcomponents: components(versions),
    pcesvn: 13,
    tdxtcbcomponents: components([5, 0, 2, ...Array<number>(13).fill(0)]),
  };
  const tcbInfo = {
    id: 'TDX',
    version: 3,
    ...dates,
    fmspc: fmspc.toUpperCase(),
    pceId: '0000',
    tdxModule: module,
    tdxModuleIdentities: [{ id: 'TDX_01', ...module, tcbLevels: [{ tcb: { isvsvn: 4 }, tcbStatus: 'UpToDate' }] }],
    tcbLevels: [{ tcb, tcbStatus: 'UpToDate' }],
  };
  const identity = {
    id: 'TD_QE',
    version: 2,
    ...dates,
    miscselect: '00000000',
    miscselectMask: 'FFFFFFFF',
    isvprodid: 2,
    mrsigner: 'AA'.repeat(32),
    attributes: `11${'00'.repeat(15)}`,
    attributesMask: `FB${'FF'.repeat(7)}${'00'.repeat(8)}`,
    tcbLevels: [{ tcb: { isvsvn: 4 }, tcbStatus: 'UpToDate' }],
  };
  change.tcbInfo?.(tcbInfo);
  change.identity?.(identity);
  const signature = (text: string) =>
    sign('sha256', Buffer.from(text), { key: keys.signer.privateKey, dsaEncoding: 'ieee-p1363' }).toString('hex');
  const current = { from: new Date(dates.issueDate), to: new Date(dates.nextUpdate), serials: [] };
  const [info, id] = [JSON.stringify(tcbInfo), JSON.stringify(identity)];
  return {
    root_ca_crl: forgeRevocationList({ ...current, issuer: 'Root', signer: keys.root, ...change.rootCrl }).toString('hex'),
    pck_crl: forgeRevocationList({ ...current, issuer: 'PCK CA', signer: keys.authority, ...change.pckCrl }).toString('hex'),
    tcb_info_issuer_chain: chain,
    tcb_info: info,
    tcb_info_signature: signature(info),
    qe_identity_issuer_chain: chain,
    qe_identity: id,
    qe_identity_signature: signature(id),
    ...change.collateral,
  };
}
