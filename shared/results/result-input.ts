import { decisions, reviewNote } from 'computation-management-formats/consent';
import { described, fileName, namedInput, orNull } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { signatureText } from '../rows/stored-approval.ts';

const checksum = v.pipe(
  v.string('Expected a SHA3-256 in hex, 64 digits.'),
  v.regex(/^[0-9a-fA-F]{64}$/, 'Expected a SHA3-256 in hex, 64 digits.'),
  v.toLowerCase(),
  v.description('The SHA3-256 of the file with the result, hex.'),
  v.metadata({ minLength: 64, maxLength: 64 }),
);

/** The schema of the request with which a reviewer hands in the result of a run. */
export const resultInput = namedInput('ResultInput', 'The file with the result that a reviewer hands in.', {
  file_name: fileName,
  size: v.pipe(
    v.number('Expected a whole number of bytes.'),
    v.safeInteger('Expected a whole number of bytes.'),
    v.minValue(0, 'Expected 0 or more.'),
    v.description('The size of the file in bytes: up to 5 GiB.'),
  ),
  checksum,
});
export type ResultInput = v.InferOutput<typeof resultInput>;

/** The schema of the request with which a reviewer decides on the result of a run. */
export const resultDecisionInput = namedInput('ResultDecisionInput', 'A decision on the result of a run.', {
  decision: described(v.picklist(decisions), 'Whether the consumers may get the result. Final.'),
  checksum: described(checksum, 'The SHA3-256 of the file on which you decide, hex.'),
  note: v.optional(reviewNote, ''),
  signature: v.optional(
    orNull(
      signatureText,
      'A signature in base64, by the private key of your public key in the manifest of the run. Sign the canonical JSON (RFC 8785), in ' +
        'UTF-8, of `{type: "result-decision", domain, computation, run, reviewer, manifest_digest, checksum, decision, note}`, with ' +
        'the `checksum` in lower case. `reviewer` is your `sub`, an omitted `note` is an empty text. Algorithms as for approvals. ' +
        'Required if the `approval` of the computation was `all_signed` when the run started.',
    ),
  ),
});
export type ResultDecisionInput = v.InferOutput<typeof resultDecisionInput>;
