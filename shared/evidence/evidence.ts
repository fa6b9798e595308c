import { attestationPolicy, collateralMembers, tokenVerdicts, verdicts } from 'computation-management-formats/attestation';
import { lengthOfThumbprint } from 'computation-management-formats/es256';
import { shownText } from 'computation-management-formats/fields';
import { domainId, idOfComputation } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { agentConfigEntries } from '../rows/agent-config.ts';
import { runSchema } from '../rows/run.ts';
import { eventSchema } from '../journal/event.ts';
import { manifestSchema } from '../rows/manifest.ts';
import { storedSnapshot } from '../rows/run-snapshot.ts';
import { checksSchema, mostKeptTokens } from '../rows/attestation.ts';

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hex digits.'), v.metadata({ maxLength: 64 }));

const { cert_file, server_ca_file, client_ca_file, attested_tls } = agentConfigEntries;
const coveredEntries = {
  cert_file: cert_file.wrapped,
  server_ca_file: server_ca_file.wrapped,
  client_ca_file: client_ca_file.wrapped,
  attested_tls: attested_tls.wrapped,
};

const level = v.pipe(
  storedSnapshot.entries.approval,
  v.description("The computation's `approval` when the run started: whose approval a run required."),
);

const collateralDocument = v.pipe(
  v.string(),
  v.description('As Intel publishes it: PEM, hex, or the text that is signed.'),
  v.metadata({ maxLength: 200_000 }),
);

const attestationOfStatement = v.pipe(
  v.object({
    verdict: v.pipe(v.picklist(verdicts), v.description('What the service found.')),
    checks: v.pipe(checksSchema, v.description('Every check, with what was found.')),
    tokens: v.pipe(
      v.array(
        v.pipe(
          v.object({
            kind: v.pipe(shownText(60), v.description('The kind of the token, as its reporter named it.')),
            hash: v.pipe(digest, v.description('The SHA-256 of the token, hex.')),
            verdict: v.pipe(
              v.picklist(tokenVerdicts),
              v.description('What the service found. `not judged`: it did not verify the token.'),
            ),
            verified_at: v.pipe(
              v.string(),
              v.description('The time as of which the service verified it. Empty if it did not.'),
              v.metadata({ maxLength: 24 }),
            ),
            collateral: v.pipe(
              v.array(
                v.pipe(
                  v.object(v.entriesFromList(collateralMembers, collateralDocument)),
                  v.title('QuoteCollateral'),
                  v.description('Documents of Intel about a platform.'),
                ),
              ),
              v.description('TDX: the documents of Intel that the service verified it with. Empty for other platforms.'),
              v.metadata({ maxItems: 1 }),
            ),
          }),
          v.title('TokenOfStatement'),
          v.description('A token of the agent process.'),
        ),
      ),
      v.description('The tokens of the agent process.'),
      v.metadata({ maxItems: mostKeptTokens }),
    ),
  }),
  v.title('AttestationOfStatement'),
  v.description('What the service found in the attestation of the agent process that had the run.'),
);

/**
 * The schema of a statement of evidence: what the service states, and signs, about a run that has ended (docs/contract.md,
 * section 10).
 */
export const statementSchema = v.pipe(
  v.object({
    type: v.pipe(v.literal('computation-evidence:v1'), v.description('The form of the statement.')),
    domain: v.pipe(domainId, v.description('The identifier of the domain.')),
    computation: idOfComputation,
    run: v.pipe(
      v.omit(v.object(runSchema.entries), ['result']),
      v.title('RunOfStatement'),
      v.description('The run, as the API shows it, without `result`.'),
    ),
    manifest: manifestSchema,
    manifest_digest: v.pipe(digest, v.description('The SHA3-256, hex, of the canonical JSON of `manifest`.')),
    configuration: v.pipe(
      v.object({
        agent_config: v.pipe(
          v.object(coveredEntries),
          v.title('CoveredAgentConfig'),
          v.description('What approvals cover of the configuration of the agent.'),
        ),
        approval: level,
        attestation_policy: v.pipe(v.nullable(attestationPolicy), v.description('Which CVMs the run could use. null: any.')),
        log_access: v.pipe(storedSnapshot.entries.log_access, v.description('Who could read the log of the run.')),
        result_review: v.pipe(v.null_(), v.description('Who decides on the release of the result. null: nobody.')),
      }),
      v.title('ConfigurationOfRun'),
      v.description('The configuration that the run was started with.'),
    ),
    configuration_digest: v.pipe(digest, v.description('The SHA3-256, hex, of the canonical JSON of `configuration`.')),
    assets: v.pipe(
      storedSnapshot.entries.assets,
      v.description('The algorithm, then the datasets in the order of the manifest.'),
    ),
    approval: level,
    result_consumers: v.pipe(
      storedSnapshot.entries.result_consumers,
      v.description('The users of `result_consumers` in the manifest, in its order.'),
    ),
    approvals: v.pipe(storedSnapshot.entries.approvals, v.description('The approvals that counted when the run started.')),
    events: v.pipe(
      v.object({ started: eventSchema, last: eventSchema }),
      v.title('EventsOfRun'),
      v.description(
        'The event that started the run and the event that ended it. Their hashes commit to the events between them.',
      ),
    ),
    attestation: v.pipe(
      v.nullable(attestationOfStatement),
      v.description('What the service found in the attestation of the agent process. null if it verified no token.'),
    ),
    certificate: v.pipe(
      v.nullable(v.pipe(v.string(), v.metadata({ maxLength: 16 * 1024 }))),
      v.description('The certificate of the CVM in PEM, as it was registered when the run started. null without one.'),
    ),
    certificate_fingerprint: v.pipe(
      v.nullable(digest),
      v.description('The SHA-256, hex, of the DER of `certificate`. null without one.'),
    ),
    log: v.pipe(v.null_(), v.description("The stage's append-only log. null: the stage has none.")),
    service_version: v.pipe(shownText(64), v.description('The version of the service that made the statement.')),
    issued_at: v.pipe(timestamp, v.description('The time at which the statement was made.')),
  }),
  v.title('EvidenceStatement'),
  v.description('What the service states about a run that has ended.'),
);
export type Statement = v.InferOutput<typeof statementSchema>;

export const evidenceSchema = v.pipe(
  v.object({
    statement: statementSchema,
    signature: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9_-]{86}$/, 'Expected 64 bytes in base64url.'),
      v.metadata({ maxLength: 86 }),
      v.description('ES256 over the canonical JSON (RFC 8785) of `statement`: r and s, base64url.'),
    ),
    key_id: v.pipe(shownText(lengthOfThumbprint), v.description('The `kid` of the key in `/.well-known/jwks.json`.')),
    log: v.pipe(v.null_(), v.description("The entries of the run in the stage's append-only log. null: the stage has none.")),
  }),
  v.title('Evidence'),
  v.description('A statement about a run, with the signature of the service.'),
);

/** A signed statement about a run. `signature` covers the canonical JSON of `statement`. */
export interface Evidence {
  statement: unknown;
  signature: string;
  key_id: string;
  log: null;
}
