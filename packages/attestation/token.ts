import { decode, Tagged } from 'cborg';
import { type Bytes, demand, bytesOfBase64, quote } from './evidence-bytes.ts';
import { reportSize, tcbOrder } from './snp-report.ts';

const coseSign1 = 18;
const largestToken = 1024 * 1024;

/**
 * Reads the platform that an attestation token of an agent claims, such as SNP, TDX, SNP-vTPM, vTPM, Azure or NoCC, and the hardware's
 * report from the token, COSE_Sign1 or a JWT. The signature of the token is by a key that the agent makes up, so it proves nothing and is not checked. Claims that repeat the report are not read
 * either.
 * @throws Refusal if the token is malformed
 */
export function parseToken(bytes: Bytes): { platform: string; report: Bytes } {
  demand(bytes.length <= largestToken, `it has ${bytes.length} bytes, more than ${largestToken}`);
  const text = new TextDecoder('latin1').decode(bytes);
  const [claims, report] = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text) ? readJwt(text) : readCose(bytes);
  const platform = platformOf(claims);
  if (report !== undefined) return { platform, report };
  demand(!isSupported(platform), 'it has no raw_report');
  return { platform, report: new Uint8Array() };
}

/** The platforms whose evidence this package verifies, as tokens claim them. */
const supported = ['SNP', 'SNP-vTPM', 'Azure', 'TDX'] as const;
export type SupportedPlatform = (typeof supported)[number];

/** Returns whether evidence of a platform, as a token claims it, can be verified by this package. */
export const isSupported = (platform: string): platform is SupportedPlatform =>
  (supported as readonly string[]).includes(platform);

/** The platform of Microsoft's own token on Azure, which this package does not verify. */
const microsoft = 'azure';

type Claims = ReadonlyMap<unknown, unknown>;

/**
 * Returns the name of the platform that the claims of a token state. ` with GPU` is added if the token has evidence of a GPU,
 * which cannot be verified.
 * @throws Refusal if the claims name no platform
 */
function platformOf(claims: Claims): string {
  if (claims.has('x-ms-attestation-type')) return microsoft;
  const platform = claims.get('platform_type');
  demand(typeof platform === 'string' && platform !== '', 'it has no platform_type');
  demand(platform.toLowerCase() !== microsoft || platform === 'Azure', `its platform_type is ${quote(platform)}`);
  const submodules = claims.get('submods') ?? claims.get(266);
  const withGpu = has(claims.get('x-cocos-gpu')) || (submodules instanceof Map && submodules.has('gpu'));
  return withGpu ? `${platform} with GPU` : platform;
}

const has = (claim: unknown): boolean => claim !== undefined && claim !== null;

function readJwt(token: string): [Claims, Bytes | undefined] {
  const [, payload = ''] = token.split('.');
  const claims = toMap(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOfBase64(payload, 'its payload'))));
  demand(claims instanceof Map, 'its payload is not a JSON object');
  const report: unknown = claims.get('raw_report');
  if (!has(report)) return [claims, undefined];
  demand(typeof report === 'string', 'its raw_report is not base64');
  return [claims, bytesOfBase64(report, 'its raw_report')];
}

/** Converts the objects in a JSON value to maps, as the CBOR decoder returns them. */
function toMap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, toMap(member)]));
}

function readCose(bytes: Bytes): [Claims, Bytes | undefined] {
  const options = { strict: true, useMaps: true, rejectDuplicateMapKeys: true, allowIndefinite: false };
  const message: unknown = decode(bytes, { ...options, tags: Tagged.preserve(coseSign1) });
  demand(message instanceof Tagged && Array.isArray(message.value), 'it is neither a JWT nor COSE_Sign1');
  const [protectedHeader, header, payload, signature, ...others] = message.value as unknown[];
  const wellFormed =
    protectedHeader instanceof Uint8Array && header instanceof Map && signature instanceof Uint8Array && others.length === 0;
  demand(wellFormed && payload instanceof Uint8Array, 'its COSE_Sign1 is malformed');
  const claims: unknown = decode(payload, options);
  demand(claims instanceof Map, 'its payload is not a map');
  const report: unknown = claims.get('raw_report');
  if (!has(report)) return [claims, undefined];
  demand(report instanceof Uint8Array, `its raw_report is ${quote(typeof report)}`);
  return [claims, new Uint8Array(report)];
}

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
