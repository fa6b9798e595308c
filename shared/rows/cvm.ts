import {
  described,
  description,
  namedInput,
  namedObject,
  orNull,
  returnedField,
  shownDescription,
  shownText,
  text,
} from 'computation-management-formats/fields';
import { isAgentUrl } from 'computation-management-formats/attestation';
import { cvmId } from 'computation-management-formats/identifiers';
import { createdAt, updatedAt } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { ServiceError } from '../runtime/errors.ts';
import { parseStored } from '../table/stored.ts';
import type { Item } from '../table/table.ts';
import { presenceSchema } from './presence.ts';
import { attestationSchema, connections, storedAttestation } from './attestation.ts';

const limitOfCertificate = 16 * 1024;

/** The longest `agent_url` of a CVM, in characters: a name of 253 characters, a colon and a port. */
const longestAgentUrl = 259;

export const cvmInput = namedInput('CvmRegistration', 'The request to register a CVM, or to change it.', {
  description,
  certificate: v.optional(
    orNull(
      text(1, limitOfCertificate),
      'The certificate that the CVM presents: one X.509 certificate in PEM, up to 16 KiB. Omit it to keep the current certificate. `null` removes it.',
    ),
  ),
  agent_url: v.optional(
    orNull(
      v.pipe(
        v.string(),
        v.check(isAgentUrl, 'Expected host:port: a DNS name, an IPv4 address or one of IPv6 in brackets, and 1 to 65535.'),
        v.metadata({ maxLength: longestAgentUrl }),
      ),
      'Where parties reach the agent: `host:port`. The host is a DNS name, an IPv4 address or an IPv6 address in brackets. Omit it to ' +
        'keep the current one. `null` removes it.',
    ),
  ),
  ...v.entriesFromList(['id', 'attestation', 'certificate_fingerprint', 'created_at', 'updated_at', 'presence'], returnedField),
});
export type CvmInput = v.InferOutput<typeof cvmInput>;

const attestationOfCvm = namedObject(
  'AttestationOfCvm',
  'What the service found in the attestation evidence of the present agent process of a CVM.',
  {
    ...attestationSchema.entries,
    connection: described(
      v.picklist(connections),
      '`attested` while the connection is open over which the evidence came. `reconnected`: it is closed. Then no run with an ' +
        '`attestation_policy` starts on the CVM until its agent is restarted, but for policies that allow reconnects.',
    ),
  },
);

const entries = {
  id: described(cvmId, 'The identifier of the CVM.'),
  description: shownDescription,
  certificate: orNull(
    shownText(limitOfCertificate),
    'The certificate that the CVM presents, in PEM, as it was registered. null if none is registered.',
  ),
  certificate_fingerprint: orNull(
    shownText(64),
    'The SHA-256 of the certificate in DER, 64 hex digits. null if none is registered.',
  ),
  agent_url: orNull(shownText(longestAgentUrl), 'Where parties reach the agent, `host:port`. null if it is not registered.'),
  attestation: orNull(
    attestationOfCvm,
    'The attestation of the present agent process with the present certificate. null until it is known.',
  ),
  created_at: createdAt,
  updated_at: updatedAt,
};

export const cvmSchema = namedObject('Cvm', 'A registered CVM.', { ...entries, presence: presenceSchema });
export type Cvm = v.InferOutput<typeof cvmSchema>;

/** Schema of the item of a registered CVM, without its presence. */
export const storedCvm = v.object({
  ...entries,
  attestation: v.nullable(storedAttestation),
  /** The user who last set or removed the certificate, and when (RFC 3339). */
  certified: v.optional(v.object({ by: v.string(), at: v.string() })),
  /** The SHA-512, hex, of the PEM of the certificate with which a CVM was registered. Attestation evidence is bound to it. */
  certificate_sha512: v.nullable(v.string()),
  /** The SHA-256, hex, of the public key in the certificate of a CVM, as DER SubjectPublicKeyInfo. Null without a certificate. */
  public_key_hash: v.nullable(v.string()),
  /** The number of the CVM in the list of its domain. */
  listed_as: v.number(),
  /** The version of a CVM's registration. Every change of the item increments it, except changes of presence and attestation. */
  version: v.number(),
});
export type StoredCvm = v.InferOutput<typeof storedCvm>;

/** The domain and the identifier that together name a CVM. */
export interface CvmReference {
  domain: string;
  cvmId: string;
}

const certified = v.object({ certificate_fingerprint: v.nullable(v.string()) });

/**
 * Refuses a request by which a CVM speaks for itself if it is registered with a certificate. It proves that it has the key of its
 * certificate to a gateway, whoever it is that asks here.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`. Undefined if the CVM is not registered
 * @throws ServiceError `forbidden`, with `reason: gateway_only`
 */
export function refuseIfAtGateway(id: string, item: Item | undefined): void {
  if (!item || parseStored(certified, item, 'registered CVM').certificate_fingerprint === null) return;
  const detail = `The CVM ${id} is registered with a certificate. It gets its commands and reports through the gateway, with that certificate.`;
  throw new ServiceError('forbidden', detail, { reason: 'gateway_only' });
}
