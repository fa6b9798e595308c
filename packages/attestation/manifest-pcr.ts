import { sha3_256 } from '@noble/hashes/sha3.js';
import { concatenate, sha, toHex } from './evidence-bytes.ts';

type Names = readonly (string | readonly [name: string, names: Names])[];

const source: Names = ['type', 'url', 'kbs_resource_path', 'encrypted'];
const kbs: Names = ['url', 'enabled'];
/** The members of a manifest in the order in which the agent writes them (`agent/computations.go` of ultravioletrs/cocos). */
const ofManifest: Names = [
  'id',
  'name',
  'description',
  ['datasets', ['hash', 'user_key', 'filename', ['source', source], 'decompress', ['kbs', kbs]]],
  ['algorithm', ['hash', 'user_key', ['source', source], 'algo_type', 'algo_args', ['kbs', kbs]]],
  ['result_consumers', ['user_key']],
];

/** Returns a JSON value with its members in the given order, without those that are empty, as Go's `omitempty` writes it. */
function ordered(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((each) => ordered(each, names));
  const members = names.flatMap((each) => {
    const [name, its] = typeof each === 'string' ? [each, undefined] : each;
    const member = (value as Record<string, unknown>)[name] ?? '';
    const isEmpty = member === '' || member === false || (Array.isArray(member) && member.length === 0);
    return isEmpty ? [] : [[name, its === undefined ? member : ordered(member, its)]];
  });
  return Object.fromEntries(members) as unknown;
}

/** Writes a manifest as the agent does with Go's `json.Marshal`, which escapes what HTML and JavaScript take for their own. */
export function agentJson(manifest: object): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(ordered(manifest, ofManifest)).replaceAll(/[<>&\u2028\u2029]/g, escape);
}

/** The number of the PCR that the agent extends with its manifest after it has accepted a run. */
export const pcrOfManifest = '16';

/**
 * Returns the value of PCR 16 in the bank of SHA-256, 64 hex digits, in a machine whose agent has accepted this manifest and no other since the
 * PCR was reset, at the start of the machine or by software in it: the SHA-256 of 32 zeros and the SHA3-256 of the agent's JSON.
 */
export async function pcrWithManifest(manifest: object): Promise<string> {
  const digest = sha3_256(new TextEncoder().encode(agentJson(manifest)));
  return toHex(await sha(256, concatenate(new Uint8Array(32), digest)));
}
