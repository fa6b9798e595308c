import { verdicts } from 'computation-management-formats/attestation';
import { arrayOf, described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { idOfRun } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { assetDownload } from '../rows/asset.ts';
import { type ContentStore, presignDownload } from '../rows/content-store.ts';
import type { Run } from '../rows/run.ts';
import type { Table } from '../table/table.ts';
import { readTokensOfRun, shownOf, tokenKey } from '../rows/agent-tokens.ts';
import { checksSchema, mostKeptTokens } from '../rows/attestation.ts';

const token = namedObject('AttestationToken', 'A token that the agent process of the run sent.', {
  kind: shownText(60, 'The kind of the token, as its reporter named it.'),
  hash: shownText(64, 'The SHA-256 of the token, hex.'),
  size: v.pipe(v.number(), v.integer(), v.description('The size of the token in bytes.')),
  download: assetDownload,
});

export const attestationOfRunSchema = namedObject(
  'AttestationOfRun',
  'The attestation of the agent process that has or had a run.',
  {
    run_id: idOfRun,
    verdict: orNull(v.picklist(verdicts), 'What the service found. null until a token of the agent process is verified.'),
    checks: described(checksSchema, 'Every check, with what was found. Empty until a token is verified.'),
    tokens: arrayOf(
      token,
      mostKeptTokens,
      'The tokens of the agent process. Verify them yourself. Of more than 4, 5 are kept, and no policy is satisfied.',
    ),
  },
);

/** Returns the attestation of the agent process that has or had a run, with links to its attestation tokens. Two round trips. */
export async function describeAttestation(
  table: Table,
  store: ContentStore,
  run: Pick<Run, 'id' | 'computation_id' | 'status'>,
  now: string,
) {
  const run_id = run.id;
  const process = await readTokensOfRun(table, run);
  if (!process) return { run_id, verdict: null, checks: [], tokens: [] };
  const shown = shownOf(process.tokens);
  const tokens = process.tokens.map(async ({ kind, hash, size }) => ({
    kind,
    hash,
    size,
    download: await presignDownload(store, tokenKey(process, hash), `${hash}.token`, now),
  }));
  return { run_id, verdict: shown?.verdict ?? null, checks: shown?.checks ?? [], tokens: await Promise.all(tokens) };
}
