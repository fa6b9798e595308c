import { decode, Tagged } from 'cborg';
import { type Bytes, demand, bytesOfBase64, quote } from './evidence-bytes.ts';

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
