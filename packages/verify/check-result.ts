import { canonicalJson } from 'computation-management-formats/digests';
import { numberOf } from 'computation-management-formats/identifiers';
import { decisionText, outcomeOf } from 'computation-management-formats/consent';
import * as v from 'valibot';
import { checkSharer, checkSignature, whoseKeys } from './check-approvals.ts';
import { checkOwnEvents } from './check-events.ts';
import { isAround, isInOrder } from './check-run.ts';
import { check, fails, falseAmong, type Finding, note, party, quoted, unchecked } from './finding.ts';
import { chainedEvent, type ChainedEvent, detailsOf, nameOf, type ResultStatement, type Statement } from './statement.ts';

type Decision = ResultStatement['decisions'][number];

/**
 * Checks a statement about the result of a run: that what became of the result follows from the decisions of its reviewers, and who signed
 * them.
 * @param run the statement about the run, if its evidence is given too: who its reviewers are, and with which keys
 * @param given the events of the journal, if they are given and were checked with the run
 */
export async function checkResult(result: ResultStatement, run?: Statement, given?: readonly unknown[]): Promise<Finding[]> {
  const speakers = result.decisions.map(({ reviewer, key }) => ({ user: reviewer, key }));
  return [
    checkOutcome(result),
    ...checkOwnEvents([result.event]),
    ...(await Promise.all(result.decisions.map(async (decision) => await checkDecision(result, decision)))),
    ...speakers.flatMap((each, place) => checkSharer(each, [...(run?.approvals ?? []), ...speakers.slice(0, place)])),
    ...(speakers.some(({ key }) => key !== null) ? [whoseKeys] : []),
    ...(run
      ? checkAgainstRun(result, run)
      : [unchecked('The evidence of the run was not given, so it was not checked who reviews its result, and with which keys.')]),
    ...(run && given ? checkInJournal(result, given) : []),
  ];
}

/** Checks that the parts of the statement fit, and that the result is released or withheld by these decisions, and by the last of them. */
function checkOutcome(result: ResultStatement): Finding {
  const { run, state, checksum, decisions, event, result_review: review, issued_at } = result;
  const { reviewers, needed, consumers } = review;
  const users = decisions.map(({ reviewer }) => reviewer);
  const last = decisions.at(-1);
  const details = detailsOf(event);
  const wrong = falseAmong({
    'result_review.reviewers': isEachOnce(reviewers) && !reviewers.some((user) => consumers.includes(user)),
    'result_review.needed': Number.isInteger(needed) && needed >= 1 && needed <= reviewers.length,
    decisions: isEachOnce(users) && users.every((user) => reviewers.includes(user)),
    'decisions.checksum': decisions.every((each) => each.checksum === checksum),
    'decisions.decided_at': decisions.every(({ decided_at }, place) =>
      isInOrder(decisions[place - 1]?.decided_at ?? decided_at, decided_at),
    ),
    state: outcomeOf(review, decisions) === state && outcomeOf(review, decisions.slice(0, -1)) === undefined,
    event: event.event_type === `result_${state}` && event.originator === 'system' && event.run_id === run,
    'event.details': details['asset'] === result.asset && details['checksum'] === checksum,
    'event.timestamp': last !== undefined && isAround(last.decided_at, event.timestamp),
    issued_at: isInOrder(event.timestamp, issued_at),
  });
  const releases = decisions.filter(({ decision }) => decision === 'release').length;
  return check(
    wrong.length === 0,
    `The result with the SHA3-256 ${quoted(checksum)} was ${state}, with ${releases} of the ${needed} releases that it needs from ${reviewers.length} reviewers.`,
    `These parts of the statement about the result do not fit: ${wrong.join(', ')}.`,
  );
}

const isEachOnce = (users: readonly string[]) => users.length > 0 && new Set(users).size === users.length;

/** Checks the signature of a decision. Says whose word a decision without a signature is. */
async function checkDecision(result: ResultStatement, given: Decision): Promise<Finding> {
  const { domain, computation, run, manifest_digest } = result;
  const { reviewer, decision, note: words, checksum, signature, key } = given;
  const user = party(reviewer);
  const decided = `${user} decided to ${decision} the result`;
  if (signature === null && key === null) return note(`${decided}, without a signature. The service alone says so.`);
  if (signature === null || key === null)
    return fails(`The decision of ${user} has a signature without a key, or a key without a signature.`);
  const text = decisionText({ domain, computation, run, reviewer, manifest_digest, checksum, decision, note: words });
  return await checkSignature(user, { text, key, signature }, [decided, 'decision']);
}

/** Checks that the statement is about the result of a run, and that the reviewers of that run decided, each with the key in its manifest. */
function checkAgainstRun(result: ResultStatement, statement: Statement): Finding[] {
  const { run, configuration, manifest } = statement;
  const wrong = falseAmong({
    domain: result.domain === statement.domain,
    computation: result.computation === statement.computation,
    run: result.run === run.id,
    manifest_digest: result.manifest_digest === statement.manifest_digest,
    configuration_digest: result.configuration_digest === statement.configuration_digest,
    result_review: canonicalJson(result.result_review) === canonicalJson(configuration.result_review ?? {}),
    log: canonicalJson(result.log) === canonicalJson(statement.log),
    'event.cvm_id': result.event.cvm_id === run.cvm_id,
    'event.timestamp': isInOrder(run.ended_at, result.event.timestamp),
    'decisions.decided_at': result.decisions.every(({ decided_at }) => isInOrder(run.ended_at, decided_at)),
  });
  const keyOf = (user: string) => manifest.result_consumers[result.result_review.reviewers.indexOf(user)]?.user_key;
  return [
    check(
      wrong.length === 0 && run.status === 'completed',
      `It is the result of the run ${quoted(run.id)}, and its reviewers and receivers are those of the run.`,
      `The statement about the result is not about this run, or the run has no result. What differs: ${wrong.join(', ') || 'run.status'}.`,
    ),
    ...result.decisions.flatMap(({ reviewer, key, signature }) => {
      if (signature === null && statement.approval === 'all_signed') {
        return [fails(`The computation demands signed decisions, and that of ${party(reviewer)} has no signature.`)];
      }
      if (key === null || key === keyOf(reviewer)) return []; // defence
      return [fails(`${party(reviewer)} signed the decision with a key other than that of this reviewer in the manifest.`)];
    }),
  ];
}

/** Checks that the journal has the file, the decisions and what became of the result, as the statement has them. */
function checkInJournal(result: ResultStatement, given: readonly unknown[]): Finding[] {
  const { run, event, asset, checksum, size, decisions } = result;
  const events = given.filter((each): each is ChainedEvent => v.is(chainedEvent, each) && each.run_id === run);
  const ofType = (type: string) => events.filter(({ event_type, originator }) => event_type === type && originator !== 'agent');
  const ends = [...ofType('result_released'), ...ofType('result_withheld')];
  if (ends.length === 0) {
    const open = 'it was not checked whether the journal has the decisions';
    return [unchecked(`The given events do not reach ${nameOf(event)}, so ${open}.`)];
  }
  const inOrder = (list: ChainedEvent[]) => list.toSorted((one, other) => (numberOf(one.id) ?? 0) - (numberOf(other.id) ?? 0));
  const decided = inOrder(ofType('result_decided'));
  const said = decided.map((each) => ({ reviewer: each.originator, ...detailsOf(each) }));
  const isTimely = decided.every(({ timestamp }, place) => isAround(decisions[place]?.decided_at ?? '', timestamp));
  const stated = decisions.map(({ reviewer, decision, note, signature }) => {
    return { reviewer, asset, checksum, decision, note, signed: signature !== null };
  });
  const file = detailsOf(inOrder(ofType('result_submitted')).at(-1) ?? event);
  const isThere = ends.length === 1 && ends[0]?.hash === event.hash;
  const isFile = file['asset'] === asset && file['checksum'] === checksum && file['size'] === size;
  const isSame = isThere && isFile && isTimely && canonicalJson(said) === canonicalJson(stated);
  const other =
    'The journal has another file, other decisions, at other times, or another end of the review than the statement about the result.';
  return [check(isSame, 'The journal has the same file, decisions and end of the review.', other)];
}
