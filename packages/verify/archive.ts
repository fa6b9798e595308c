import { fromBase64 } from 'computation-management-formats/bytes';
import * as v from 'valibot';
import { parseJson } from './read-json.ts';
import { type Finding, note } from './finding.ts';

const archiveFile = v.strictObject({
  evidence: v.looseObject({}),
  keys: v.looseObject({}),
  events: v.looseObject({}),
  tokens: v.array(v.pipe(v.string(), v.base64())),
});

/**
 * Returns what checkEvidence takes of the one file that the console saves. Undefined for another file.
 * @throws UnreadableError if it is no JSON
 */
export function archiveIn(text: string) {
  const parsed = parseJson(text, 'The evidence');
  if (!v.is(archiveFile, parsed)) return undefined;
  const { evidence, keys, events } = parsed; // as they are: what a schema returns lacks members such as `constructor`
  const tokens = parsed.tokens.map((token) => fromBase64(token) ?? new Uint8Array());
  return { evidence: JSON.stringify(evidence), keys: JSON.stringify(keys), events: [JSON.stringify(events)], tokens };
}

/** Of keys that the reader did not bring. */
export const keysOfArchive: Finding = note('The keys were saved with the evidence. Compare the key with other parties.');
