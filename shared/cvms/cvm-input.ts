import { isAgentUrl } from 'computation-management-formats/attestation';
import { description, namedInput, orNull, returnedField, text } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { limitOfCertificate, longestAgentUrl } from '../rows/cvm.ts';

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
