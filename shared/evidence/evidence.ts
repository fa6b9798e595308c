import { attestationPolicy, collateralMembers, tokenVerdicts, verdicts } from 'computation-management-formats/attestation';
import { lengthOfThumbprint } from 'computation-management-formats/es256';
import { loggedActs } from 'computation-management-formats/vocabulary';
import { coveredReview } from 'computation-management-formats/consent';
import { arrayOf, described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { domainId, idOfComputation } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { agentConfigEntries } from '../rows/agent-config.ts';
import { runSchema } from '../rows/run.ts';
import { eventSchema, hashInHex as digest } from '../journal/journal.ts';
import { manifestSchema } from '../rows/manifest.ts';
import { storedSnapshot } from '../rows/run-snapshot.ts';
import { checksSchema, mostKeptTokens } from '../rows/attestation.ts';

const { cert_file, server_ca_file, client_ca_file, attested_tls } = agentConfigEntries;
const coveredEntries = {
  cert_file: cert_file.wrapped,
  server_ca_file: server_ca_file.wrapped,
  client_ca_file: client_ca_file.wrapped,
  attested_tls: attested_tls.wrapped,
};

const level = described(
  storedSnapshot.entries.approval,
  "The computation's `approval` when the run started: whose approval a run required.",
);

const collateralDocument = v.pipe(
  v.string(),
  v.description('As Intel publishes it: PEM, hex, or the text that is signed.'),
  v.metadata({ maxLength: 200_000 }),
);

const attestationOfStatement = namedObject(
  'AttestationOfStatement',
  'What the service found in the attestation of the agent process that had the run.',
  {
    verdict: described(v.picklist(verdicts), 'What the service found.'),
    checks: described(checksSchema, 'Every check, with what was found.'),
    tokens: arrayOf(
      namedObject('TokenOfStatement', 'A token of the agent process.', {
        kind: shownText(60, 'The kind of the token, as its reporter named it.'),
        hash: described(digest, 'The SHA-256 of the token, hex.'),
        verdict: described(v.picklist(tokenVerdicts), 'What the service found. `not judged`: it did not verify the token.'),
        verified_at: v.pipe(
          v.string(),
          v.description('The time as of which the service verified it. Empty if it did not.'),
          v.metadata({ maxLength: 24 }),
        ),
        collateral: arrayOf(
          namedObject(
            'QuoteCollateral',
            'Documents of Intel about a platform.',
            v.entriesFromList(collateralMembers, collateralDocument),
          ),
          1,
          'TDX: the documents of Intel that the service verified it with. Empty for other platforms.',
        ),
      }),
      mostKeptTokens,
      'The tokens of the agent process.',
    ),
  },
);

/**
 * The schema of a statement of evidence: what the service states, and signs, about a run that has ended (docs/contract.md,
 * section 10).
 */
export const statementSchema = namedObject('EvidenceStatement', 'What the service states about a run that has ended.', {
  type: described(v.literal('computation-evidence:v1'), 'The form of the statement.'),
  domain: described(domainId, 'The identifier of the domain.'),
  computation: idOfComputation,
  run: v.pipe(
    v.omit(v.object(runSchema.entries), ['result']),
    v.title('RunOfStatement'),
    v.description('The run, as the API shows it, without `result`.'),
  ),
  manifest: manifestSchema,
  manifest_digest: described(digest, 'The SHA3-256, hex, of the canonical JSON of `manifest`.'),
  configuration: namedObject('ConfigurationOfRun', 'The configuration that the run was started with.', {
    agent_config: namedObject('CoveredAgentConfig', 'What approvals cover of the configuration of the agent.', coveredEntries),
    approval: level,
    attestation_policy: orNull(attestationPolicy, 'Which CVMs the run could use. null: any.'),
    log_access: described(storedSnapshot.entries.log_access, 'Who could read the log of the run.'),
    result_review: orNull(coveredReview, 'Who decides on the release of the result, and who gets it then. null: nobody.'),
  }),
  configuration_digest: described(digest, 'The SHA3-256, hex, of the canonical JSON of `configuration`.'),
  assets: described(storedSnapshot.entries.assets, 'The algorithm, then the datasets in the order of the manifest.'),
  approval: level,
  result_consumers: described(
    storedSnapshot.entries.result_consumers,
    'The users of `result_consumers` in the manifest, in its order. With a review, the users who get a released result, sorted.',
  ),
  approvals: described(storedSnapshot.entries.approvals, 'The approvals that counted when the run started.'),
  events: namedObject(
    'EventsOfRun',
    'The event that started the run and the event that ended it. Their hashes commit to the events between them.',
    { started: eventSchema, last: eventSchema },
  ),
  attestation: orNull(
    attestationOfStatement,
    'What the service found in the attestation of the agent process. null if it verified no token.',
  ),
  certificate: orNull(
    v.pipe(v.string(), v.metadata({ maxLength: 16 * 1024 })),
    'The certificate of the CVM in PEM, as it was registered when the run started. null without one.',
  ),
  certificate_fingerprint: orNull(digest, 'The SHA-256, hex, of the DER of `certificate`. null without one.'),
  log: namedObject(
    'StatedLog',
    "The stage's append-only log, which has an entry for the start and the end of the run, and for a reviewed result.",
    {
      origin: shownText(255, 'The name of the log.'),
      vkey: shownText(400, 'The key that verifies the checkpoints of the log (C2SP signed-note).'),
    },
  ),
  service_version: shownText(64, 'The version of the service that made the statement.'),
  issued_at: described(timestamp, 'The time at which the statement was made.'),
});
export type Statement = v.InferOutput<typeof statementSchema>;

/** The longest proof of an entry in characters: 53 hashes, and a checkpoint with the signatures of many witnesses. */
const longestProof = 16 * 1024;

/** The schema of what stands beside a statement, unsigned: where the log has the entries of the run, and the proofs. */
export const logOfEvidence = namedObject('LogOfEvidence', "The entries of the run in the stage's append-only log.", {
  entries: arrayOf(
    namedObject('LogEntryOfRun', "An entry of the run in the stage's log, with the proof.", {
      type: described(v.picklist(loggedActs), 'The event that the entry is of.'),
      index: v.pipe(v.number(), v.integer(), v.minValue(0), v.description('The place of the entry in the log, from 0.')),
      salt: v.pipe(v.string(), v.description('The salt of the entry, base64 of 16 bytes.'), v.metadata({ maxLength: 24 })),
      proof: v.pipe(
        v.string(),
        v.description('The inclusion proof and the signed checkpoint, as text (C2SP tlog-proof).'),
        v.metadata({ maxLength: longestProof }),
      ),
    }),
    2,
    'The entry of the start of the run, then that of its end. Of a result, the entry of its release or withholding.',
  ),
});
export type LogOfEvidence = v.InferOutput<typeof logOfEvidence>;

export const evidenceSchema = namedObject('Evidence', 'A statement about a run, with the signature of the service.', {
  statement: statementSchema,
  signature: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9_-]{86}$/, 'Expected 64 bytes in base64url.'),
    v.metadata({ maxLength: 86 }),
    v.description('ES256 over the canonical JSON (RFC 8785) of `statement`: r and s, base64url.'),
  ),
  key_id: shownText(lengthOfThumbprint, 'The `kid` of the key in `/.well-known/jwks.json`.'),
  log: logOfEvidence,
});

/** A signed statement about a run. `signature` covers the canonical JSON of `statement`. */
export interface Evidence {
  statement: unknown;
  signature: string;
  key_id: string;
  log: LogOfEvidence;
}
