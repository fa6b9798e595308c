import { coveredReview, mostReviewers } from 'computation-management-formats/consent';
import { namedObject, described, shownText } from 'computation-management-formats/fields';
import { domainId, idOfAsset, idOfComputation, idOfRun } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { evidenceSchema } from '../evidence/index.ts';
import { eventSchema, hashInHex as digest } from '../journal/journal.ts';
import { statedDecision } from '../rows/result.ts';

/**
 * The schema of a statement about the result of a run: what the service states, and signs, once the result is released or withheld
 * (docs/contract.md, section 13).
 */
export const resultStatementSchema = namedObject(
  'ResultStatement',
  'What the service states about the result of a run, once it is released or withheld.',
  {
    type: described(v.literal('computation-result:v1'), 'The form of the statement.'),
    domain: described(domainId, 'The identifier of the domain.'),
    computation: idOfComputation,
    run: idOfRun,
    manifest_digest: described(digest, 'The digest of the manifest that the run was started with.'),
    configuration_digest: described(digest, 'The digest of the configuration that the run was started with.'),
    result_review: coveredReview,
    state: described(v.picklist(['released', 'withheld']), 'What became of the result.'),
    asset: idOfAsset,
    checksum: described(digest, 'The SHA3-256 of the file with the result, hex.'),
    size: v.pipe(v.number(), v.integer(), v.description('The size of the file in bytes.')),
    decisions: v.pipe(
      v.array(statedDecision),
      v.description('The decisions until the result was released or withheld, in their order.'),
      v.metadata({ minItems: 1, maxItems: mostReviewers }),
    ),
    event: eventSchema,
    log: evidenceSchema.entries.statement.entries.log,
    service_version: shownText(64, 'The version of the service that made the statement.'),
    issued_at: described(timestamp, 'The time at which the statement was made.'),
  },
);
export type ResultStatement = v.InferOutput<typeof resultStatementSchema>;

/** The schema of a signed statement about the result of a run. */
export const resultEvidenceSchema = namedObject(
  'ResultEvidence',
  'A statement about the result of a run, with the signature of the service.',
  { ...evidenceSchema.entries, statement: resultStatementSchema },
);
