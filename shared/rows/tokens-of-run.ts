import * as v from 'valibot';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { type Table, getItem } from '../table/table.ts';
import type { RunReference } from './run.ts';

const processOfRun = v.object({ domain: v.string(), cvmId: v.string(), process: v.string() });
const tokensOfProcess = v.object({ tokens: v.array(v.object({ hash: v.string() })) });

/**
 * Reads the SHA-256 hashes, in hex, of the attestation tokens that the agent process of a run has sent. Empty if no process is known.
 * The event that ends the run keeps them: tokens that come later change no evidence. Two round trips.
 */
export async function readTokenHashes(table: Table, { computation_id, run_id }: RunReference): Promise<string[]> {
  const item = await getItem(table, runKeys.attestation(computation_id, run_id));
  if (!item) return [];
  const { domain, cvmId, process } = parseStored(processOfRun, item, 'process of a run');
  const tokens = await getItem(table, cvmKeys.process(domain, cvmId, process));
  return tokens ? parseStored(tokensOfProcess, tokens, 'agent process').tokens.map(({ hash }) => hash) : [];
}
