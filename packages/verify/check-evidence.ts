import { verifyToken } from 'computation-management-attestation';
import { thumbprintOf } from 'computation-management-formats/es256';
import * as v from 'valibot';
import { checkAttestation } from './check-attestation.ts';
import { checkApprovals, checkHeads, showsDecisions } from './check-approvals.ts';
import { checkJournal, checkOwnEvents, type Page } from './check-events.ts';
import { checkActs, checkLog } from './check-log.ts';
import type { LogKnowledge } from './known-logs.ts';
import { checkResult } from './check-result.ts';
import { checkRun } from './check-run.ts';
import type { EvidenceFiles } from './evidence-files.ts';
import { fails, type Finding, note, quoted, unchecked } from './finding.ts';
import { checkSignature, evidenceKey, jwksFile, problemOf, read, type Signed, signedSchema } from './signed-evidence.ts';
import { resultStatementSchema, type ResultStatement, type Statement, statementSchema, unknownMembers } from './statement.ts';

const eventsFile = v.union([v.array(v.unknown()), v.looseObject({ events: v.array(v.unknown()) })]);

/**
 * Checks the signed evidence of a run, or the statement about its result, and the events of the journal if they are given. Trusts nothing
 * but the given keys.
 * @throws UnreadableError if a file does not have the form that the check needs
 */
export const checkEvidence = (files: EvidenceFiles) => checkEvidenceBy(verifyToken, files);

/** Checks evidence as `checkEvidence` does, with a given function that verifies attestation tokens. */
export async function checkEvidenceBy(verify: typeof verifyToken, files: EvidenceFiles): Promise<Finding[]> {
  const { evidence, result, keys, events, log, ...attested } = files;
  const signed = read(signedSchema, evidence, 'The evidence');
  const listed = read(jwksFile, keys, 'The file of keys').keys;
  const journal = events?.map(pageIn);
  if (signed.statement.type === resultType) return [...checkKeys(listed), ...(await checkResultFile(evidence, listed, log))];
  const { findings, statement: parts } = await checkForm(signed, statementSchema, listed);
  const all = [...checkKeys(listed), ...findings];
  if (!parts) return all;
  // The log grows between the evidence and the result, so a state of another size that the other party knows was compared with the evidence.
  const afterwards = { ...log, seen: [...(log?.seen ?? []), ...(log?.others ?? [])], others: [] };
  const found = [
    ...all,
    ...checkRun(parts),
    ...(await checkAttestation(
      parts,
      attested,
      verify,
      journal?.flatMap((page) => page.events),
    )),
    ...(await checkApprovals(parts)),
    ...checkOwnEvents([parts.events.started, parts.events.last]),
    ...(await checkLog(parts, proofsBeside(signed), log)),
    ...(journal ? checkJournal(parts, journal) : [...withoutJournal(parts), ...checkHeads(parts, [])]),
    ...(result === undefined
      ? withoutResult(parts)
      : await checkResultFile(result, listed, afterwards, { statement: parts, events: journal?.flatMap((page) => page.events) })),
  ];
  return [...new Set(found)]; // the note on whose keys these are once, for approvals and decisions
}

const resultType = resultStatementSchema.entries.type.literal;

/** Checks the signed statement about the result of a run. @param run what is known of the run. Undefined if its evidence is not given */
async function checkResultFile(
  file: string,
  listed: readonly object[],
  log: LogKnowledge | undefined,
  run?: { statement: Statement; events: readonly unknown[] | undefined },
): Promise<Finding[]> {
  const signed = read(signedSchema, file, 'The statement about the result');
  const { findings, statement } = await checkForm(signed, resultStatementSchema, listed);
  if (!statement) return findings;
  const acts: [['result', ResultStatement['event']]] = [['result', statement.event]];
  return [
    ...findings,
    ...(await checkResult(statement, run?.statement, run?.events)),
    ...(await checkActs({ ...statement, acts, what: 'the end of the review of the result' }, proofsBeside(signed), log)),
  ];
}

const proofsBeside = (signed: object) => ('log' in signed ? signed.log : undefined);

/** Says that the result of a run has a review that was not checked. */
const withoutResult = ({ configuration, run }: Statement) =>
  configuration.result_review && run.status === 'completed' ? [note(withoutReview)] : [];

const withoutReview =
  'The result of the run has a review. The statement about it was not given, so it is not checked who released the result.';

/** Checks that a statement is signed and has exactly the members of its schema. Returns it, as it was read, if it has all of them. */
async function checkForm<S extends typeof statementSchema | typeof resultStatementSchema>(
  signed: Signed,
  schema: S,
  listed: readonly object[],
): Promise<{ findings: Finding[]; statement?: v.InferOutput<S> }> {
  const { statement } = signed;
  const others = Object.keys(signed).filter((name) => name !== 'log' && !Object.hasOwn(signedSchema.entries, name));
  const findings = [
    ...others.map((name) => fails(`The evidence has a member ${quoted(name)}, which nobody has signed.`)),
    await checkSignature(signed, listed),
  ];
  const form = v.safeParse(schema, statement);
  if (!form.success) {
    const expected = schema.entries.type.literal;
    const otherForm = `The statement does not have the form of ${expected}: ${problemOf(form.issues[0])}.`;
    return { findings: [...findings, fails(otherForm)] };
  }
  const unknown = unknownMembers(statement, form.output).map((name) =>
    fails(`The statement has a member ${quoted(name)}, which nobody checks.`),
  );
  return { findings: [...findings, ...unknown], statement: statement as v.InferOutput<S> };
}

/**
 * Says what was not checked without events: those of the run, which may be against its attestation policy or release keys, and whether the approvals that
 * the run needed were the last ones.
 */
function withoutJournal(statement: Statement): Finding[] {
  const hasKeys = statement.assets.some(({ key }) => key !== null);
  const demands = statement.configuration.attestation_policy !== null || hasKeys || !showsDecisions(statement, []);
  const say = demands ? unchecked : note;
  const these = 'The events between the first and the last event of the run, and those before it,';
  return [say(`${these} were not given, so they were not checked.`)];
}

function pageIn(file: string): Page {
  const content = read(eventsFile, file, 'The file of events');
  return Array.isArray(content) ? { events: content } : content;
}

/**
 * Checks that each of the given keys bears its own thumbprint as its name, so that nobody can sign in the name of another key.
 */
function checkKeys(listed: readonly { kty: string; kid?: unknown }[]): Finding[] {
  return listed.flatMap((each, index) => {
    const what = `The key at place ${index + 1} of the given keys`;
    const isTwice = each.kid !== undefined && listed.some((other, place) => place < index && other.kid === each.kid);
    if (isTwice) return [fails(`${what} has the same name as another key: ${quoted(String(each.kid))}.`)];
    if (each.kty !== 'EC') return [];
    if (!v.is(evidenceKey, each)) return [fails(`${what} does not have the form of a key that signs evidence.`)];
    if (each.kid === thumbprintOf(each)) return []; // defence
    return [fails(`${what} is named ${quoted(each.kid)}, but its thumbprint is ${thumbprintOf(each)}.`)];
  });
}
