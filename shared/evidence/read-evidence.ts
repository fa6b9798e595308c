import { configurationOf } from 'computation-management-formats/consent';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import * as v from 'valibot';
import { readOneCollateral } from '../attestation/index.ts';
import { readTokensOfRun, shownOf, type TokenOfProcess } from '../rows/agent-tokens.ts';
import { isActive, type Run } from '../rows/run.ts';
import { storedSnapshot } from '../rows/run-snapshot.ts';
import { conflict } from '../runtime/errors.ts';
import { runKeys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Evidence, type Statement, statementSchema } from './evidence.ts';
import { readEventOf, readStatement, type Sources, type StatementRequest } from './signed-statement.ts';
import { parseStored } from '../table/stored.ts';

/**
 * Returns the signed evidence of a run. The first request makes and stores it.
 * @throws ServiceError `not_found`; `conflict` while the run is active, until its entries are in the stage's log, or if the log has
 *   others; `unavailable`
 */
export async function readEvidence(sources: Sources, request: StatementRequest): Promise<Evidence> {
  return await readStatement(sources, request, {
    key: runKeys.evidence(request.computationId, request.runId),
    refuse: ({ id, status }) => {
      if (isActive(status)) throw conflict('run_active', 'The run is active. Get its evidence after the run has ended.', id);
    },
    acts: ['run-start', 'run-end'],
    pending: 'The start and the end of the run are not in the log yet. Try again in a moment.',
    state: async (table, run, common, readSnapshot) => {
      const [item, process, started, last] = await Promise.all([
        readSnapshot(),
        readTokensOfRun(table, run),
        readEventOf(table, run, 'started', run.started_at),
        readEventOf(table, run, run.status, run.ended_at ?? run.started_at),
      ]);
      const snapshot = parseStored(storedSnapshot, item, 'snapshot of a run');
      const tokens = process?.tokens.map((token) => asAtEnd(token, run)) ?? [];
      const { certificate } = snapshot;
      const statement = v.parse(statementSchema, {
        ...snapshot,
        ...common,
        type: 'computation-evidence:v1',
        run,
        configuration: configurationOf(snapshot),
        events: { started, last },
        attestation: await statedAttestation(table, tokens),
        certificate_fingerprint: certificate === null ? null : fingerprintOfCertificate(certificate),
      });
      return { statement, events: [started, last] };
    },
  });
}

/** Returns an attestation token that counted when a run ended, without a verdict of the service that is later than the end. */
function asAtEnd(token: TokenOfProcess, { ended_at }: Run): TokenOfProcess {
  const isInTime = token.attestation !== null && token.attestation.verified_at <= (ended_at ?? '');
  return isInTime ? token : { ...token, attestation: null };
}

/**
 * Returns what evidence states about the attestation tokens of a run: their hashes, and all that is needed to verify the tokens
 * again. Null if none was verified.
 */
async function statedAttestation(table: Table, tokens: TokenOfProcess[]): Promise<Statement['attestation']> {
  const shown = shownOf(tokens);
  if (!shown) return null;
  const { verdict, checks } = shown;
  const stated = tokens.map(async ({ kind, hash, attestation, collateral_hash }) => ({
    kind,
    hash,
    verdict: attestation?.verdict ?? ('not judged' as const),
    verified_at: attestation?.verified_at ?? '',
    collateral: [await readOneCollateral(table, collateral_hash)].flatMap((found) => found ?? []),
  }));
  return { verdict, checks, tokens: await Promise.all(stated) };
}
