import * as v from 'valibot';
import { checkApprovals } from './check-approvals.ts';
import { checkJournal, checkOwnEvents } from './check-events.ts';
import type { Page } from './check-pages.ts';
import { checkRun } from './check-run.ts';
import { checkSignature } from './check-signature.ts';
import { fails, note, type Finding } from './finding.ts';
import { parseJson } from './parse-json.ts';
import { statementSchema, type Statement } from './statement.ts';
import { UnreadableError } from './unreadable-error.ts';

/** The contents of the files. */
export interface EvidenceFiles {
  evidence: string;
  keys: string;
  /** Pages of the journal, in the order in which they follow each other. */
  events?: string[];
}

const jwksFile = v.looseObject({ keys: v.array(v.looseObject({ kty: v.string() })) });
const signedSchema = v.object({ statement: v.looseObject({}), signature: v.string(), key_id: v.string() });
const eventsFile = v.union([v.array(v.unknown()), v.looseObject({ events: v.array(v.unknown()) })]);

/**
 * Checks a signed statement, and the events of the journal if they are given. Trusts nothing but the keys.
 * @throws UnreadableError if a file does not have the form that it needs
 */
export function checkEvidence({ evidence, keys, events }: EvidenceFiles): Finding[] {
  const signed = read(signedSchema, evidence, 'The evidence');
  const others = Object.keys(signed).filter((name) => !Object.hasOwn(signedSchema.entries, name));
  const findings = [
    ...others.map((name) => fails(`The evidence has a member ${JSON.stringify(name)}, which nobody has signed.`)),
    checkSignature(signed, read(jwksFile, keys, 'The file of keys').keys),
  ];
  const journal = events?.map(pageIn);
  const { statement } = signed;
  const form = v.safeParse(statementSchema, statement);
  if (!form.success) {
    const [issue] = form.issues;
    const place = v.getDotPath(issue) ?? 'the statement';
    return [...findings, fails(`The statement does not have the form of computation-evidence:v1: ${place}: ${issue.message}`)];
  }
  const parts = statement as Statement;
  return [
    ...findings,
    ...checkRun(parts),
    ...checkApprovals(parts),
    ...checkOwnEvents(parts),
    ...(journal
      ? checkJournal(parts, journal)
      : [note('The events between the first and the last event of the run were not given, so they were not checked.')]),
  ];
}

function pageIn(file: string): Page {
  const content = read(eventsFile, file, 'The file of events');
  return Array.isArray(content) ? { events: content } : content;
}

/** Returns the content as it is. What the schema returns would lack members such as `constructor`, which then nobody would check. */
function read<S extends v.GenericSchema>(schema: S, text: string, what: string): v.InferOutput<S> {
  const content = parseJson(text, what);
  const result = v.safeParse(schema, content);
  if (result.success) return content;
  const [issue] = result.issues;
  throw new UnreadableError(
    `${what} has another form than expected: ${v.getDotPath(issue) ?? 'the whole file'}: ${issue.message}`,
  );
}
