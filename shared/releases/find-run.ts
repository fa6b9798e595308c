import {
  guestsIn,
  parseProcessOfRun,
  parseTokens,
  type Process,
  tokensOfRun,
  type TokenOfProcess,
} from '../rows/agent-tokens.ts';
import type { KeyedRun } from '../rows/asset-key.ts';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { type Table, getItemsOf } from '../table/table.ts';

/** The agent process of a run, and the attestation tokens that it sent. */
export interface ProcessOfKeyedRun {
  run: KeyedRun;
  process: Process;
  tokens: TokenOfProcess[];
}

/** Reads the agent processes of runs, and their tokens. Two round trips. A run that no agent process has yet is left out. */
export async function readProcesses(table: Table, runs: readonly KeyedRun[]): Promise<ProcessOfKeyedRun[]> {
  const items = await getItemsOf(table, runs, ({ computation_id, run_id }) => runKeys.attestation(computation_id, run_id));
  const found = runs.flatMap((run, index) => {
    const ofRun = parseProcessOfRun(items[index]);
    return ofRun ? [{ run, ofRun }] : [];
  });
  const tokens = await getItemsOf(table, found, ({ ofRun: { domain, cvmId, process } }) =>
    cvmKeys.process(domain, cvmId, process),
  );
  return found.map(({ run, ofRun }, index) => ({ run, process: ofRun, tokens: tokensOfRun(ofRun, parseTokens(tokens[index])) }));
}

/** Finds the run of an SNP guest: one whose agent process sent evidence of this guest. @param guest its REPORT_ID */
export async function runOfGuest(table: Table, runs: readonly KeyedRun[], guest: string | null) {
  if (guest === null) return undefined;
  return (await readProcesses(table, runs)).find(({ tokens }) => guestsIn(tokens).includes(guest));
}
