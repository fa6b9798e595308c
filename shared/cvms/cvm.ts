import {
  description,
  returnedField,
  shownDescription,
  shownText,
  strictObject,
  text,
} from 'computation-management-formats/fields';
import { cvmId } from 'computation-management-formats/identifiers';
import { createdAt, updatedAt } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { etagOf } from '../http/etags.ts';
import { presenceSchema } from '../runs/presence.ts';

const limitOfCertificate = 16 * 1024;

export const cvmInput = v.pipe(
  strictObject({
    description,
    certificate: v.optional(
      v.pipe(
        v.nullable(text(1, limitOfCertificate)),
        v.description(
          'The certificate that the CVM presents: one X.509 certificate in PEM, up to 16 KiB. Omit it to keep the current certificate. `null` removes it.',
        ),
      ),
    ),
    id: returnedField,
    certificate_fingerprint: returnedField,
    created_at: returnedField,
    updated_at: returnedField,
    presence: returnedField,
  }),
  v.title('CvmRegistration'),
  v.description('The request to register a CVM, or to change it.'),
);
export type CvmInput = v.InferOutput<typeof cvmInput>;

const entries = {
  id: v.pipe(cvmId, v.description('The identifier of the CVM.')),
  description: shownDescription,
  certificate_fingerprint: v.pipe(
    v.nullable(shownText(64)),
    v.description('The SHA-256 of the certificate in DER, 64 hex digits. null if none is registered.'),
  ),
  created_at: createdAt,
  updated_at: updatedAt,
};

export const cvmSchema = v.pipe(
  v.object({ ...entries, presence: presenceSchema }),
  v.title('Cvm'),
  v.description('A registered CVM.'),
);
export type Cvm = v.InferOutput<typeof cvmSchema>;

export const storedCvm = v.object({
  ...entries,
  /** Its number in the domain's list. */
  listed_as: v.number(),
  /** Incremented by every change but those of its presence. */
  version: v.number(),
});
export type StoredCvm = v.InferOutput<typeof storedCvm>;

/** Its presence is a part of its own, which If-Match does not compare, because it changes by itself. */
export function cvmEtag({ id, description, certificate_fingerprint, created_at, updated_at, presence }: Cvm): string {
  const { state, last_seen_at, agent_state, fit } = presence;
  return etagOf([id, description, certificate_fingerprint, created_at, updated_at], [state, last_seen_at, agent_state, fit]);
}
