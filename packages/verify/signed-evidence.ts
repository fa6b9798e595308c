import { canonicalJson } from 'computation-management-formats/digests';
import { thumbprintOf, verifiesEs256 } from 'computation-management-formats/es256';
import * as v from 'valibot';
import { type EvidenceFiles, parseJson, UnreadableError } from './evidence-files.ts';
import { check, fails, type Finding, quoted } from './finding.ts';
import { type ResultStatement, resultStatementSchema, type Statement, statementSchema } from './statement.ts';

/** The schema of the public keys of a service. */
export const jwksFile = v.looseObject({ keys: v.array(v.looseObject({ kty: v.string() })) });
/**
 * The schema of evidence: a statement of any form, and its signature by a key of the service. Everything in the statement was signed, so nothing
 * of it may be left out.
 */
export const signedSchema = v.object({
  statement: v.looseObject({ type: v.optional(v.unknown()) }),
  signature: v.string(),
  key_id: v.string(),
});
export type Signed = v.InferOutput<typeof signedSchema>;

/**
 * Parses a JSON text and checks it against a schema. Returns the content as it is: the result of the schema would lack members
 * such as `constructor`, which then nobody would check.
 * @param what names the text in the error
 * @throws UnreadableError if the text has another form
 */
export function read<S extends v.GenericSchema>(schema: S, text: string, what: string): v.InferOutput<S> {
  const content = parseJson(text, what);
  const result = v.safeParse(schema, content);
  if (result.success) return content;
  throw new UnreadableError(`${what} has another form than expected: ${problemOf(result.issues[0])}.`);
}

/**
 * Says where a content does not fit its schema and what was expected. The words of the library are not used, because they repeat
 * the content.
 */
export function problemOf(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  const place = path === null ? 'the whole' : quoted(path);
  return issue.received === 'undefined' ? `${place} is missing` : `${place}: expected ${issue.expected ?? 'another value'}`;
}

/** The schema of a key that signs evidence. */
export const evidenceKey = v.looseObject({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
  use: v.literal('sig'),
  alg: v.literal('ES256'),
  kid: v.string(),
});

/** Checks that one of the given keys has signed the statement as it is. */
export async function checkSignature({ statement, signature, key_id }: Signed, keys: readonly object[]): Promise<Finding> {
  const found = keys.find((each) => v.is(evidenceKey, each) && thumbprintOf(each) === key_id); // defence
  if (!v.is(evidenceKey, found))
    return fails(`The statement is signed by the key ${quoted(key_id)}, which is not among the given keys.`);
  return check(
    await verifiesEs256(canonicalJson(statement), signature, found), // defence
    `The statement is signed by the key ${quoted(key_id)}, which is among the given keys and has this thumbprint.`,
    `The signature does not fit the statement: one of them was changed, or another key than ${quoted(key_id)} has signed.`,
  );
}

const anyStatement = v.variant('type', [statementSchema, resultStatementSchema]);

/**
 * Returns the statement in evidence, about a run or its result, if one of the given keys has signed it and it has the form of one. Undefined
 * otherwise.
 * @throws UnreadableError if a file does not have the form that the check needs
 */
export async function signedStatement({
  evidence,
  keys,
}: Pick<EvidenceFiles, 'evidence' | 'keys'>): Promise<Statement | ResultStatement | undefined> {
  const signed = read(signedSchema, evidence, 'The evidence');
  const { verdict } = await checkSignature(signed, read(jwksFile, keys, 'The file of keys').keys);
  return verdict === 'holds' && v.is(anyStatement, signed.statement) ? signed.statement : undefined;
}
