import { canonicalJson } from 'computation-management-formats/canonical-json';
import { keyObjectOf, thumbprintOf, verifiesEs256 } from 'computation-management-formats/es256';
import * as v from 'valibot';
import { check, fails, type Finding } from './finding.ts';

const key = v.looseObject({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
  kid: v.optional(v.string()),
});

/** The evidence as it was read. Everything in the statement was signed, so nothing of it may be left out here. */
export interface Signed {
  statement: object;
  signature: string;
  key_id: string;
}

/** Checks that a listed key has signed the statement as it is. */
export function checkSignature({ statement, signature, key_id }: Signed, keys: readonly object[]): Finding {
  const found = keys.find((each) => v.is(key, each) && (each.kid ?? thumbprintOf(each)) === key_id);
  if (!v.is(key, found)) return fails(`The statement is signed by the key ${key_id}, which is not among the given keys.`);
  return check(
    verifies(canonicalJson(statement), signature, found),
    `The statement is signed by the key ${key_id}, which is among the given keys.`,
    `The signature does not fit the statement: one of them was changed, or another key than ${key_id} has signed.`,
  );
}

function verifies(text: string, signature: string, found: v.InferOutput<typeof key>): boolean {
  try {
    return verifiesEs256(text, signature, keyObjectOf(found));
  } catch {
    return false; // the key is no point on the curve
  }
}
