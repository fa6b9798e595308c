import { type Bytes, bytesOfBase64, demand } from './evidence-bytes.ts';
import { reportSize, tcbOrder } from './snp-report.ts';

/** Returns whether evidence is JSON, as the attestation agent of Confidential Containers (CoCo) writes it. */
export const isJson = (evidence: Bytes): boolean => evidence[0] === 0x7b;

/** Reads a JSON object from bytes in UTF-8. @throws Refusal or SyntaxError if it is none; `what` names the value in the reason */
export function jsonObject(bytes: Bytes, what: string): Record<string, unknown> {
  return asObject(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), what);
}

/** Returns a JSON value that must be an object. @throws Refusal with the name `what` if it is none */
export function asObject(value: unknown, what: string): Record<string, unknown> {
  demand(typeof value === 'object' && value !== null, `${what} is no JSON object`);
  return value as Record<string, unknown>;
}

/** Decodes a member in base64 of a JSON object. @throws Refusal if it is none */
export function base64Member(of: Record<string, unknown>, name: string): Bytes {
  const text = of[name];
  demand(typeof text === 'string', `its ${name} is no text`);
  return bytesOfBase64(text, `its ${name}`);
}

/**
 * The places of the members of `attestation_report` (the struct `AttestationReport` of the crate sev, as serde writes it) in an SNP report: from
 * which byte, and how many (AMD's document 56860, section 7.3, Table 23).
 */
const places: Record<string, readonly [at: number, size: number]> = {
  version: [0x00, 4],
  guest_svn: [0x04, 4],
  policy: [0x08, 8],
  family_id: [0x10, 16],
  image_id: [0x20, 16],
  vmpl: [0x30, 4],
  sig_algo: [0x34, 4],
  current_tcb: [0x38, 8],
  plat_info: [0x40, 8],
  key_info: [0x48, 4],
  report_data: [0x50, 64],
  measurement: [0x90, 48],
  host_data: [0xc0, 32],
  id_key_digest: [0xe0, 48],
  author_key_digest: [0x110, 48],
  report_id: [0x140, 32],
  report_id_ma: [0x160, 32],
  reported_tcb: [0x180, 8],
  cpuid_fam_id: [0x188, 1],
  cpuid_mod_id: [0x189, 1],
  cpuid_step: [0x18a, 1],
  chip_id: [0x1a0, 64],
  committed_tcb: [0x1e0, 8],
  current: [0x1e8, 3],
  committed: [0x1ec, 3],
  launch_tcb: [0x1f0, 8],
  launch_mit_vector: [0x1f8, 8],
  current_mit_vector: [0x200, 8],
  signature: [0x2a0, 144],
};

/**
 * Reads evidence of SNP that CoCo's attestation agent sends: JSON of `attestation_report`, whose members are put together again into the bytes
 * that the firmware signed, and `cert_chain`.
 * @throws Refusal if it is malformed or has a member that a report does not have; SyntaxError if it is no JSON
 */
export function parseSnpJson(evidence: Bytes): { report: Bytes; certificates: Bytes[] } {
  const { attestation_report, cert_chain } = jsonObject(evidence, 'it');
  const members = asObject(attestation_report, 'its attestation_report');
  const report = new Uint8Array(reportSize);
  for (const [name, value] of Object.entries(members)) {
    const [at, size] = places[name] ?? [];
    demand(at !== undefined && size !== undefined, `its report has the unknown member ${name}`);
    const bytes = bytesIn(value, size);
    demand(bytes.length === size, `the member ${name} of its report does not have ${size} bytes`);
    report.set(bytes, at);
  }
  const entries = Array.isArray(cert_chain) ? cert_chain.map((entry) => asObject(entry, 'an entry of its cert_chain')) : [];
  const types: readonly unknown[] = ['VCEK', 'VLEK', 'ASK', 'ARK'];
  const certificates = entries.filter(({ cert_type }) => types.includes(cert_type));
  return { report, certificates: certificates.map(({ data }) => bytesOfList(data)) };
}

/** Writes a member as a report has it: a number with the lowest byte first, a list as it is, versions and a signature in their order. */
function bytesIn(value: unknown, size: number): Bytes {
  if (value === null) return new Uint8Array(size);
  if (typeof value === 'number') {
    demand(Number.isSafeInteger(value) && value >= 0, 'its report has a number that is no whole one');
    const length = Math.max(size, Math.ceil(Math.log2(value + 1) / 8));
    return Uint8Array.from({ length }, (_, at) => Math.floor(value / 256 ** at) % 256);
  }
  if (Array.isArray(value)) return bytesOfList(value);
  const parts = asObject(value, 'a member of its report');
  if ('r' in parts) return Uint8Array.from([...bytesOfList(parts['r']), ...bytesOfList(parts['s'])]);
  if ('build' in parts) return bytesOfList([parts['build'], parts['minor'], parts['major']]);
  const order = typeof parts['fmc'] === 'number' ? tcbOrder.turin : tcbOrder.others;
  return bytesOfList(order.map((name) => (name === null ? 0 : parts[name])));
}

function bytesOfList(list: unknown): Bytes {
  const isOfBytes = Array.isArray(list) && list.every((each) => Number.isInteger(each) && each >= 0 && each < 256);
  demand(isOfBytes, 'it has a list that is not of bytes');
  return Uint8Array.from(list as number[]);
}

/** Returns the quote of TDX in evidence: the evidence itself, or the member `quote` of CoCo's JSON. @throws Refusal or SyntaxError */
export const tdxQuoteIn = (evidence: Bytes): Bytes =>
  isJson(evidence) ? base64Member(jsonObject(evidence, 'it'), 'quote') : evidence;
