import { verifyToken } from 'computation-management-attestation';
import { canonicalJson } from 'computation-management-formats/digests';
import { thumbprintOf, verifiesEs256 } from 'computation-management-formats/es256';
import * as v from 'valibot';
import { checkAttestation } from './check-attestation.ts';
import { checkApprovals, checkHeads, showsDecisions } from './check-approvals.ts';
import { checkJournal, checkOwnEvents, type Page } from './check-events.ts';
import { checkRun } from './check-run.ts';
import { type EvidenceFiles, parseJson, UnreadableError } from './evidence-files.ts';
import { check, fails, type Finding, note, quoted, unchecked } from './finding.ts';
import { type Statement, statementSchema, unknownMembers } from './statement.ts';

const jwksFile = v.looseObject({ keys: v.array(v.looseObject({ kty: v.string() })) });
const signedSchema = v.object({ statement: v.looseObject({}), signature: v.string(), key_id: v.string(), log: v.null_() });
const eventsFile = v.union([v.array(v.unknown()), v.looseObject({ events: v.array(v.unknown()) })]);

/**
 * Checks the signed evidence of a run, and the events of the journal if they are given. Trusts nothing but the given keys.
 * @throws UnreadableError if a file does not have the form that the check needs
 */
export const checkEvidence = (files: EvidenceFiles) => checkEvidenceBy(verifyToken, files);

/** Checks evidence as `checkEvidence` does, with a given function that verifies attestation tokens. */
export async function checkEvidenceBy(
  verify: typeof verifyToken,
  { evidence, keys, events, ...attested }: EvidenceFiles,
): Promise<Finding[]> {
  const signed = read(signedSchema, evidence, 'The evidence');
  const others = Object.keys(signed).filter((name) => !Object.hasOwn(signedSchema.entries, name));
  const listed = read(jwksFile, keys, 'The file of keys').keys;
  const findings = [
    ...others.map((name) => fails(`The evidence has a member ${quoted(name)}, which nobody has signed.`)),
    ...checkKeys(listed),
    await checkSignature(signed, listed),
  ];
  const journal = events?.map(pageIn);
  const { statement } = signed;
  const form = v.safeParse(statementSchema, statement);
  if (!form.success) {
    return [...findings, fails(`The statement does not have the form of computation-evidence:v1: ${problemOf(form.issues[0])}.`)];
  }
  const parts = statement as Statement;
  return [
    ...findings,
    ...unknownMembers(statement, form.output).map((name) =>
      fails(`The statement has a member ${quoted(name)}, which nobody checks.`),
    ),
    ...checkRun(parts),
    ...(await checkAttestation(parts, attested, verify)),
    ...(await checkApprovals(parts)),
    ...checkOwnEvents(parts),
    ...(journal ? checkJournal(parts, journal) : [...withoutJournal(parts), ...checkHeads(parts, [])]),
  ];
}

/**
 * Says what was not checked without events: those of the run, which may be against its attestation policy, and whether the approvals that
 * the run needed were the last ones.
 */
function withoutJournal(statement: Statement): Finding[] {
  const say = statement.configuration.attestation_policy === null && showsDecisions(statement, []) ? note : unchecked;
  return [
    say(
      'The events between the first and the last event of the run, and those before it, were not given, so they were not checked.',
    ),
  ];
}

function pageIn(file: string): Page {
  const content = read(eventsFile, file, 'The file of events');
  return Array.isArray(content) ? { events: content } : content;
}

/**
 * Parses a JSON text and checks it against a schema. Returns the content as it is: the result of the schema would lack members
 * such as `constructor`, which then nobody would check.
 * @param what names the text in the error
 * @throws UnreadableError if the text has another form
 */
function read<S extends v.GenericSchema>(schema: S, text: string, what: string): v.InferOutput<S> {
  const content = parseJson(text, what);
  const result = v.safeParse(schema, content);
  if (result.success) return content;
  throw new UnreadableError(`${what} has another form than expected: ${problemOf(result.issues[0])}.`);
}

/**
 * Says where a content does not fit its schema and what was expected. The words of the library are not used, because they repeat
 * the content.
 */
function problemOf(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  const place = path === null ? 'the whole' : quoted(path);
  return issue.received === 'undefined' ? `${place} is missing` : `${place}: expected ${issue.expected ?? 'another value'}`;
}

const key = v.looseObject({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
  use: v.literal('sig'),
  alg: v.literal('ES256'),
  kid: v.string(),
});

/**
 * Checks that each of the given keys bears its own thumbprint as its name, so that nobody can sign in the name of another key.
 */
function checkKeys(listed: readonly { kty: string; kid?: unknown }[]): Finding[] {
  return listed.flatMap((each, index) => {
    const what = `The key at place ${index + 1} of the given keys`;
    const isTwice = each.kid !== undefined && listed.some((other, place) => place < index && other.kid === each.kid);
    if (isTwice) return [fails(`${what} has the same name as another key: ${quoted(String(each.kid))}.`)];
    if (each.kty !== 'EC') return [];
    if (!v.is(key, each)) return [fails(`${what} does not have the form of a key that signs evidence.`)];
    if (each.kid === thumbprintOf(each)) return [];
    return [fails(`${what} is named ${quoted(each.kid)}, but its thumbprint is ${thumbprintOf(each)}.`)];
  });
}

/**
 * The evidence of a run as it was read: a statement, and its signature by a key of the service. Everything in the statement was
 * signed, so nothing of it may be left out here.
 */
interface Signed {
  statement: object;
  signature: string;
  key_id: string;
}

/** Checks that one of the given keys has signed the statement as it is. */
async function checkSignature({ statement, signature, key_id }: Signed, keys: readonly object[]): Promise<Finding> {
  const found = keys.find((each) => v.is(key, each) && thumbprintOf(each) === key_id);
  if (!v.is(key, found)) return fails(`The statement is signed by the key ${quoted(key_id)}, which is not among the given keys.`);
  return check(
    await verifiesEs256(canonicalJson(statement), signature, found),
    `The statement is signed by the key ${quoted(key_id)}, which is among the given keys and has this thumbprint.`,
    `The signature does not fit the statement: one of them was changed, or another key than ${quoted(key_id)} has signed.`,
  );
}
