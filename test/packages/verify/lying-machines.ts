import { createHash } from 'node:crypto';
import type { TdxCollateral } from 'computation-management-attestation';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { coseOf, forgeSnp, jwtOf, products } from '../attestation/forge-snp.ts';
import { bodyOf, forgeTdx, type TdxChange } from '../attestation/forge-tdx.ts';
import { anotherKey, areaOf, forgeAzure, forgeSnpVtpm, type VtpmChange } from '../attestation/forge-vtpm.ts';
import { certificatePem } from '../formats/openssh-keys.ts';
import { aToken } from './genuine-evidence.ts';

export const otherCertificate = '-----BEGIN CERTIFICATE-----\nAAECAwQFBgc=\n-----END CERTIFICATE-----\n';

/** A machine whose token a service may have, and the truth about it, which the lab knows without the verifier. */
export interface Machine {
  name: string;
  platform: 'snp' | 'tdx' | 'snp-vtpm' | 'az-snp-vtpm' | 'none';
  token: Uint8Array;
  isGenuine: boolean;
  certificate: string;
  measurement: string;
  debug: boolean;
  vmpl: number;
  /** The value of PCR 4. Empty without a vTPM. */
  pcr4: string;
}

type Truth = Partial<Omit<Machine, 'name' | 'platform' | 'token'>>;

function machine(name: string, platform: Machine['platform'], token: Uint8Array, truth: Truth): Machine {
  const of = { isGenuine: true, certificate: certificatePem, measurement: ofSnp, debug: false, vmpl: 0, pcr4: '' };
  return { name, platform, token, ...of, ...truth };
}

const ofSnp = 'ab'.repeat(48);
const sha = (algorithm: string, ...parts: (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash(algorithm)).digest();

/** Changes a report of SNP to what is true of a machine, but for its report data. */
function toSnp(report: Buffer, { measurement = ofSnp, debug = false, vmpl = 0 }: Truth): void {
  report.set(Buffer.from(measurement, 'hex'), 0x90);
  report.writeUInt32LE((debug ? 1 << 19 : 0) | (1 << 17) | (1 << 16), 8);
  report.writeUInt32LE(vmpl, 0x30);
}

const snpReport = (truth: Truth) => (report: Buffer) => {
  sha('sha512', truth.certificate ?? certificatePem).copy(report, 0x50);
  toSnp(report, truth);
};

/** Makes a machine whose token lacks the certificate of its chip, so that nothing about it is proven. */
function snpAlone(name: string, truth: Truth = {}): Machine {
  const { report } = forgeSnp({ report: snpReport(truth) });
  return machine(name, 'snp', Buffer.from(coseOf({ platform_type: 'SNP', raw_report: report })), { ...truth, isGenuine: false });
}

function snp(name: string, truth: Truth = {}, more: Parameters<typeof aToken>[1] = {}): Machine {
  const change = snpReport(truth);
  return machine(name, 'snp', aToken(change, more).token, truth);
}

/** The measurement of a machine of TDX by its MRTD. All of its RTMRs are zero. */
const measurementOf = (mrtd: number) => sha('sha384', Buffer.alloc(48, mrtd), Buffer.alloc(3 * 48)).toString('hex');
export const ofTdx = measurementOf(0xcd);

function tdx(name: string, truth: Truth & { mrtd?: number } = {}, change: TdxChange = {}): Machine {
  const { mrtd = 0xcd, ...known } = truth;
  const from = change.version === 4 ? 48 : 54;
  const quote = (bytes: Buffer) => {
    sha('sha512', truth.certificate ?? certificatePem).copy(bytes, from + 520);
    bytes.fill(mrtd, from + 136, from + 184);
    bytes.writeUInt8(truth.debug ? 1 : 0, from + 120);
    change.quote?.(bytes);
  };
  const token = Buffer.from(coseOf({ platform_type: 'TDX', raw_report: forgeTdx({ ...change, quote }).quote }));
  return machine(name, 'tdx', token, { measurement: measurementOf(mrtd), ...known });
}

const pcrOf = (value: number) => Buffer.alloc(32, value);
const [pcrOfGood, pcrOfNone] = [pcrOf(4).toString('hex'), pcrOf(0xff).toString('hex')];

function vtpm(name: string, truth: Truth = {}, change: VtpmChange = {}): Machine {
  const { certificate = certificatePem, pcr4 = pcrOfGood } = truth;
  const { evidence } = forgeSnpVtpm({
    bound: sha('sha512', certificate),
    nonce: sha('sha256', certificate),
    pcrs: (pcrs) => void (pcrs[4] = Buffer.from(pcr4, 'hex')),
    snp: { report: (report) => toSnp(report, truth) },
    ...change,
  });
  const token = Buffer.from(coseOf({ platform_type: 'SNP-vTPM', raw_report: evidence }));
  return machine(name, 'snp-vtpm', token, { ...truth, pcr4 });
}

function azure(name: string, truth: Truth = {}): Machine {
  const { evidence } = forgeAzure({
    nonce: sha('sha256', certificatePem),
    runtime: (data) => (data['user-data'] = sha('sha512', certificatePem).toString('hex')),
    snp: { report: (report) => toSnp(report, truth) },
  });
  const token = Buffer.from(coseOf({ platform_type: 'Azure', raw_report: evidence }));
  return machine(name, 'az-snp-vtpm', token, { ...truth, pcr4: pcrOfGood });
}

/** The machines that the policy of the lab allows, with the documents of Intel of the time of the run. */
export const good = {
  snp: snp('good'),
  again: snp('good, again'),
  tdx: tdx('good TDX'),
  vtpm: vtpm('good vTPM'),
  azure: azure('good on Azure'),
};

/** Machines that had another run, over the same certificate or another. */
export const ofOtherRuns = [
  snp('good, of another run'),
  tdx('good TDX, of another run'),
  vtpm('good vTPM, of another run'),
  snp('debugged, of another run', { debug: true }),
  snp('of another run, over another certificate', { certificate: otherCertificate }),
  tdx('TDX of another run, over another certificate', { certificate: otherCertificate }),
];

export const bad = [
  snp('of another measurement', { measurement: 'cd'.repeat(48) }),
  snp('debugged', { debug: true }),
  snp('at level 1', { vmpl: 1 }),
  snp('over another certificate', { certificate: otherCertificate }),
  snp('altered', { isGenuine: false }, { signed: (report) => void report.fill(0xab, 0x90, 0xa0).fill(0, 0xa0, 0xa1) }),
  snpAlone('without the certificate of its chip'),
  snpAlone('debugged, without the certificate of its chip', { debug: true }),
  tdx('TDX of another measurement', { mrtd: 0xce }),
  tdx('TDX in version 4', {}, { version: 4 }),
  tdx('TDX, debugged', { debug: true }),
  tdx('TDX over another certificate', { certificate: otherCertificate }),
  tdx(
    'TDX, altered',
    { isGenuine: false, mrtd: 0xce },
    { signed: (bytes) => bytes.fill(0xcd, bodyOf(bytes) + 136, bodyOf(bytes) + 184) },
  ),
  tdx(
    'TDX with a migration service',
    { isGenuine: false },
    { quote: (bytes) => void bytes.fill(1, bodyOf(bytes) + 600, bodyOf(bytes) + 648) },
  ),
  vtpm('vTPM with another PCR', { pcr4: '05'.repeat(32) }),
  vtpm('vTPM, debugged', { debug: true }),
  vtpm('vTPM at level 2', { vmpl: 2 }),
  vtpm('vTPM over another certificate', { certificate: otherCertificate }),
  vtpm('vTPM with another PCR than it tells', { isGenuine: false }, { toldPcrs: (pcrs) => pcrs.set(4, pcrOf(0xff)) }),
  vtpm('vTPM whose quote another TPM signed', { isGenuine: false }, { signer: anotherKey }),
  vtpm('another vTPM than the report names', { isGenuine: false }, { otherArea: areaOf(anotherKey), signer: anotherKey }),
  vtpm('vTPM whose quote is over another certificate', { isGenuine: false }, { nonce: sha('sha256', otherCertificate) }),
  azure('on Azure, debugged', { debug: true }),
  machine('without a TEE', 'none', Buffer.from(coseOf({ platform_type: 'NoCC', raw_report: Buffer.alloc(96) })), {
    isGenuine: false,
  }),
  machine("Microsoft's", 'none', Buffer.from(jwtOf({ 'x-ms-attestation-type': 'azurevm' })), { isGenuine: false }),
  machine('unreadable', 'none', Buffer.from('junk'), { isGenuine: false }),
];
export const isOfMicrosoft = ({ name }: Machine) => name === "Microsoft's";
/** Tells what stays `unsupported`: evidence that nobody can verify, whatever it says. */
export const isUnsupported = (of: Machine) => isOfMicrosoft(of) || of.name === 'without a TEE';

export const machines = [...Object.values(good), ...ofOtherRuns, ...bad];

/** The roots of all machines, and the certificate that those on Azure lack. */
export const roots = [...aToken().roots, ...(forgeTdx().options.roots ?? [])];
export const certificates = forgeSnp().certificates.slice(1, 2);

/** Documents of Intel about the machines of TDX, and the truth about them. */
export interface Documents {
  name: string;
  collateral: TdxCollateral;
  isGenuine: boolean;
  /** The time at which the last of its documents begins to hold. `to` is when the first one ends. */
  from: string;
  to: string;
  /** The time at which its TCB Info was issued. */
  issued: string;
  status: string;
  advisories: string[];
  revokes: boolean;
}

/** The times in the lab: seconds after a moment. The run starts at 2 and ends at 5. */
export const at = (second: number) => new Date(Date.parse('2025-07-17T08:00:00.000Z') + second * 1000).toISOString();
const day = 24 * 3_600;

interface ToldByIntel {
  status?: string;
  advisories?: string[];
  revokes?: boolean;
  family?: string;
}

function documents(name: string, [from, to]: [string, string], told: ToldByIntel = {}): Documents {
  const { status = 'UpToDate', advisories = [], revokes = false, family } = told;
  const dates = { issueDate: from, nextUpdate: to };
  const list = { from: new Date(from), to: new Date(to) };
  const { collateral } = forgeTdx({
    tcbInfo: (info) => {
      Object.assign(info, dates, family && { fmspc: family });
      Object.assign(info.tcbLevels[0] ?? {}, { tcbStatus: status, ...(advisories.length > 0 && { advisoryIDs: advisories }) });
    },
    identity: (identity) => void Object.assign(identity, dates),
    pckCrl: { ...list, serials: revokes ? [3] : [] },
    rootCrl: list,
  });
  return { name, collateral, isGenuine: family === undefined, from, to, issued: from, status, advisories, revokes };
}

const ofThen: [string, string] = [at(-45 * day), at(600 * day)];
export const current = documents('of then', ofThen);
const old = documents('old', [at(-500 * day), at(-10 * day)]);
const outOfDate = documents('out of date', ofThen, { status: 'OutOfDate' });
const { root_ca_crl, pck_crl, tcb_info, tcb_info_signature } = old.collateral;
const altered = outOfDate.collateral.tcb_info.replace('OutOfDate', 'UpToDate');

/** Documents of another time, or that say something else. */
export const otherDocuments: Documents[] = [
  old,
  documents('old, and still current', [at(-200 * day), at(100 * day)]),
  documents('from the middle of the run', [at(3), at(400 * day)]),
  documents('of after the run', [at(1_800), at(400 * day)]),
  documents('of a year later', [at(360 * day), at(900 * day)]),
  outOfDate,
  documents('newer, and out of date', [at(-5 * day), at(300 * day)], { status: 'OutOfDate' }),
  documents('with an advisory', ofThen, { advisories: ['INTEL-SA-00837'] }),
  documents('that revoke it', ofThen, { revokes: true }),
  documents('of another family', ofThen, { family: '112233445566' }),
  { ...outOfDate, name: 'altered', isGenuine: false, collateral: { ...outOfDate.collateral, tcb_info: altered } },
  { ...current, name: 'with old lists', to: old.to, collateral: { ...current.collateral, root_ca_crl, pck_crl } },
  {
    ...current,
    name: 'with an old TCB Info',
    to: old.to,
    issued: old.issued,
    collateral: { ...current.collateral, tcb_info, tcb_info_signature },
  },
];

/** Returns the documents by which a machine of TDX is judged at a time: the newest that hold then. */
function documentsAt(time: string, given: readonly Documents[]): Documents | undefined {
  const newestFirst = given.toSorted((one, other) => Date.parse(other.issued) - Date.parse(one.issued));
  return newestFirst.find(({ isGenuine, from, to }) => isGenuine && from <= time && time <= to);
}

/** Returns whether a machine is verified at a time over a certificate, with documents of Intel. */
export function isVerified(of: Machine, certificate: string, given: readonly Documents[], time: string): boolean {
  const { status, revokes } = documentsAt(time, given) ?? { revokes: true };
  const isKnown = of.platform !== 'tdx' || (status === 'UpToDate' && !revokes);
  return of.isGenuine && of.certificate === certificate && !of.debug && isKnown;
}

const [bootloader = 0, tee = 0, , , , , firmware = 0, microcode = 0] = products.Milan.tcb;
const versions = { bootloader, tee, snp: firmware, microcode, fmc: -1 };

/** Returns whether a policy allows a machine at a time, over the certificate that a statement has, with documents of Intel. */
export function allows(
  policy: AttestationPolicy,
  certificate: string,
  of: Machine,
  given: readonly Documents[],
  time: string,
): boolean {
  const intel = documentsAt(time, given);
  const ofPlatform =
    of.platform === 'tdx'
      ? intel !== undefined &&
        !intel.revokes &&
        policy.accepted_tcb_statuses.some((each) => each === intel.status) &&
        intel.advisories.every((each) => policy.accepted_advisories.includes(each))
      : of.vmpl <= policy.vmpl &&
        Object.entries(policy.minimum_tcb ?? {}).every(
          ([name, least]) => least === null || versions[name as keyof typeof versions] >= least,
        );
  return (
    of.isGenuine &&
    of.certificate === certificate &&
    policy.platforms.some((each) => each === of.platform) &&
    policy.measurements.includes(of.measurement) &&
    (policy.allow_debug || !of.debug) &&
    Object.entries(policy.pcrs?.sha256 ?? {}).every(([number, value]) => number === '4' && value === of.pcr4) &&
    ofPlatform
  );
}

const least = { bootloader: 0, tee: 0, snp: 0, microcode: 0, fmc: null };
const pcrs = (value: string) => ({ sha256: { 4: value } });

/** The differences of a policy from that of the lab, which some machine of the lab satisfies. */
export const policies: Partial<AttestationPolicy>[] = [
  {},
  { measurements: [ofSnp, 'cd'.repeat(48), ofTdx, measurementOf(0xce)] },
  { platforms: ['tdx'] },
  { platforms: ['snp-vtpm'], pcrs: pcrs(pcrOfGood) },
  { platforms: ['az-snp-vtpm', 'snp'] },
  { vmpl: 1 },
  { vmpl: 3 },
  { allow_debug: true },
  { allow_reconnect: true },
  { allow_used_guest: true },
  { minimum_tcb: { ...least, bootloader, microcode } },
  { accepted_tcb_statuses: ['OutOfDate', 'UpToDate'] },
  { accepted_advisories: ['INTEL-SA-00837'] },
];

/** The differences of policies that no token of the lab satisfies, some for each platform. */
export const unsatisfied: Partial<AttestationPolicy>[] = [
  { measurements: ['ef'.repeat(48)] },
  { platforms: ['snp'], measurements: [ofTdx] },
  { platforms: ['snp'], minimum_tcb: { ...least, bootloader: bootloader + 1 } },
  { platforms: ['snp'], minimum_tcb: { ...least, fmc: 0 } },
  { platforms: ['snp'], minimum_tcb: { ...least, microcode: 255 }, allow_debug: true, vmpl: 3 },
  { platforms: ['snp', 'tdx'], pcrs: pcrs(pcrOfGood) },
  { platforms: ['tdx'], measurements: [ofSnp] },
  { platforms: ['tdx'], accepted_tcb_statuses: [] },
  { platforms: ['tdx'], accepted_tcb_statuses: ['SWHardeningNeeded'], accepted_advisories: ['INTEL-SA-00837'] },
  { platforms: ['snp-vtpm'], pcrs: pcrs(pcrOfNone) },
  { platforms: ['snp-vtpm'], measurements: ['ef'.repeat(48)], pcrs: pcrs(pcrOfGood) },
  { platforms: ['snp-vtpm'], minimum_tcb: { ...least, snp: firmware + 1 } },
  { platforms: ['az-snp-vtpm'], pcrs: pcrs(pcrOfNone) },
  { platforms: ['az-snp-vtpm'], measurements: [ofTdx] },
  { platforms: ['az-tdx-vtpm'] },
];
