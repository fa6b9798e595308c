import * as v from 'valibot';
import { runKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { schemaVersion } from '../table/schema-version.ts';
import type { Item } from '../table/table.ts';
import type { Action } from '../table/action.ts';
import { StaleReadError } from '../table/transaction.ts';
import type { Evidence } from './evidence.ts';
import type { Signature } from './signing-key.ts';

const storedEvidence = v.object({
  /** The text that was signed, deflated. */
  statement: storedBytes,
  signature: v.string(),
  key_id: v.string(),
});

/**
 * Returns the action that stores the evidence of a run. Fails with StaleReadError if there is evidence of it already. Its text is
 * little more than the snapshot of the run, which fits into an item, and it is deflated.
 */
export function putEvidence(
  { computationId, runId }: { computationId: string; runId: string },
  { text, signature, key_id }: Signature & { text: string },
): Action {
  const Item = {
    ...runKeys.evidence(computationId, runId),
    ...schemaVersion('evidence'),
    statement: zlib().deflateRawSync(text),
    signature,
    key_id,
  };
  return { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() };
}

/** Parses the item read at `runKeys.evidence`. @throws Error if it is invalid */
export function parseEvidence(item: Item): Evidence {
  const { statement, signature, key_id } = parseStored(storedEvidence, item, 'evidence');
  return { statement: JSON.parse(zlib().inflateRawSync(statement).toString()) as unknown, signature, key_id };
}

/** Loaded on first use: an import would add to the cold start. */
const zlib = () => process.getBuiltinModule('node:zlib');
