import { createHash, type JsonWebKey } from 'node:crypto';
import { canonicalJson } from 'computation-management-formats/digests';
import { orRefuse, Refused } from './refused.ts';
import { parseTeeKey } from './seal-for-tee.ts';

/** The one version of the protocol that this package speaks, as the body of `auth` must name it. */
export const protocolVersion = '0.4.0';

type Json = Record<string, unknown>;

/** The body of `attest`, as far as a verifier needs it. */
export interface AttestRequest {
  nonce: string;
  teePublicKey: JsonWebKey;
  /** The evidence of the TEE as the attestation agent writes it: JSON in UTF-8. Its form depends on the platform. */
  evidence: Uint8Array;
  /** The report data that the evidence must have: 64 bytes. */
  reportData: Uint8Array;
}

/**
 * Reads the body of `attest`. Unknown members are ignored, but those of `tee-pubkey` are covered by the evidence, as sent.
 * @throws Refused if it is malformed, or the key of the TEE is none that keys can be sealed for
 */
export function parseAttestRequest(body: string): AttestRequest {
  const given = orRefuse((): unknown => JSON.parse(body), 'The body is no JSON.');
  const request = objectOf(given, 'The body');
  const runtime = objectOf(request['runtime-data'], 'runtime-data');
  const { primary_evidence, additional_evidence = '' } = objectOf(request['tee-evidence'], 'tee-evidence');
  const { nonce, 'tee-pubkey': teePublicKey } = runtime;
  if (typeof nonce !== 'string') throw new Refused('runtime-data.nonce must be a text.');
  if (typeof additional_evidence !== 'string') throw new Refused('tee-evidence.additional_evidence must be a text.');
  const primary = objectOf(primary_evidence, 'tee-evidence.primary_evidence');
  const evidence = orRefuse(() => Buffer.from(JSON.stringify(primary)), 'tee-evidence.primary_evidence is too deep.');
  parseTeeKey(teePublicKey);
  const bound = { nonce, teePublicKey: teePublicKey as JsonWebKey, additionalEvidence: additional_evidence };
  return { nonce, teePublicKey: bound.teePublicKey, evidence, reportData: reportDataOf(bound) };
}

/** The platforms that attestation tokens name, by the member of the JSON that only evidence of the platform has. */
const platforms = { attestation_report: 'SNP', hcl_report: 'Azure', quote: 'TDX' };

/**
 * Wraps the evidence of an attestation request as an attestation token, which `verifyToken` of computation-management-attestation reads.
 * @throws Refused for evidence of another platform than SNP, TDX and Azure's, such as `sample`, which proves nothing
 */
export function tokenOfEvidence(evidence: Uint8Array): Uint8Array {
  const members = JSON.parse(new TextDecoder().decode(evidence)) as Json;
  const platform = Object.entries(platforms).find(([member]) => member in members)?.[1];
  if (platform === undefined)
    throw new Refused('The evidence is of no platform that proves anything: it is none of SNP, TDX or Azure.');
  const claims = { platform_type: platform, raw_report: Buffer.from(evidence).toString('base64') };
  return Buffer.from(`e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`);
}

/**
 * Returns the report data that binds evidence to a nonce, the key of a TEE and the evidence of its other devices: the SHA-384 of the canonical JSON
 * (RFC 8785) of all three, with zeros up to 64 bytes.
 * @param given.additionalEvidence the text of `additional_evidence`, of other devices, as sent
 * @throws Refused if a text has a lone surrogate
 */
export function reportDataOf(given: { nonce: string; teePublicKey: JsonWebKey; additionalEvidence: string }): Uint8Array {
  const { nonce, teePublicKey, additionalEvidence } = given;
  const bound = { 'additional-evidence': additionalEvidence, nonce, 'tee-pubkey': teePublicKey };
  const canonical = orRefuse(() => canonicalJson(bound), 'runtime-data has no canonical JSON.');
  return Buffer.concat([createHash('sha384').update(canonical).digest()], 64);
}

function objectOf(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refused(`${name} must be an object.`);
  return value as Json;
}
