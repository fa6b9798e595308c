import { canonicalDigest, startDigest } from 'computation-management-formats/digests';
import { timeOf } from 'computation-management-formats/timestamps';
import { check, quoted, type Finding } from './finding.ts';
import { type ChainedEvent, detailsOf, nameOf, type Statement } from './statement.ts';

/**
 * Checks that the parts of a statement are about the same run, and that the manifest and the configuration have the stated
 * digests.
 */
export function checkRun(statement: Statement): Finding[] {
  const { run, manifest, manifest_digest, configuration, configuration_digest, computation, events, assets } = statement;
  const { started, last } = events;
  const places = [
    ['run.computation_id', run.computation_id === computation],
    ['manifest.id', manifest.id === computation],
    ['run.manifest_digest', run.manifest_digest === manifest_digest],
    ['run.configuration_digest', run.configuration_digest === configuration_digest],
    ['configuration.approval', configuration.approval === statement.approval],
    ['events.started', started.event_type === 'started' && isOf(run, started) && started.originator === run.started_by],
    ['events.last', isEnd(run, last) && isOf(run, last) && last.timestamp >= started.timestamp],
    ['run.started_at', isShortlyBefore(run.started_at, started.timestamp)],
    ['run.ended_at', isShortlyBefore(run.ended_at, last.timestamp)],
    ['run.reason', (detailsOf(last)['reason'] ?? null) === run.reason],
    ['issued_at', timeOf(statement.issued_at) >= timeOf(run.ended_at) - setBackInMilliseconds],
    ['assets', new Set(assets.map(({ id }) => id)).size === assets.length],
  ] as const;
  const wrong = places.filter(([, isRight]) => !isRight).map(([place]) => place);
  return [
    check(
      wrong.length === 0,
      `All parts are about the run ${quoted(run.id)} of the computation ${quoted(computation)} in the domain ${quoted(statement.domain)}, which ended as ${quoted(run.status)}.`,
      `These parts do not belong to the run ${quoted(run.id)} as the statement describes it: ${wrong.join(', ')}.`,
    ),
    checkDigest('manifest', manifest, manifest_digest),
    checkDigest('configuration', configuration, configuration_digest),
    checkStart(statement),
  ];
}

function checkDigest(what: string, value: object, digest: string): Finding {
  return check(
    canonicalDigest(value) === digest,
    `The ${what} has the digest ${quoted(digest)}.`,
    `The ${what} does not have the digest ${quoted(digest)}.`,
  );
}

/**
 * Checks that the statement agrees with the event `started` of its run about the manifest, configuration, assets and approvals.
 * Each later event of the journal commits to that event.
 */
function checkStart(statement: Statement): Finding {
  const { started } = statement.events;
  const { manifest_digest, configuration_digest, start_digest } = detailsOf(started);
  return check(
    manifest_digest === statement.manifest_digest &&
      configuration_digest === statement.configuration_digest &&
      start_digest === startDigest(statement),
    `The run was started with this manifest, configuration, assets and approvals: ${nameOf(started)} has their digest.`,
    `The run was started with another manifest, configuration, assets or approvals: ${nameOf(started)} has another digest.`,
  );
}

function isEnd(run: Statement['run'], { event_type, status, originator }: ChainedEvent): boolean {
  return event_type === run.status && originator === 'system' && status === (run.status === 'failed' ? 'failure' : 'success');
}

/**
 * The most milliseconds by which the time of an event may differ from the time in the run. If the service's clock is set back
 * meanwhile, the event gets the time of the event before it.
 */
const setBackInMilliseconds = 24 * 3_600_000;

function isShortlyBefore(time: string, ofEvent: string): boolean {
  const difference = timeOf(ofEvent) - timeOf(time);
  return difference >= 0 && difference <= setBackInMilliseconds;
}

function isOf(run: Statement['run'], event: { run_id: string; cvm_id: string }): boolean {
  return event.run_id === run.id && event.cvm_id === run.cvm_id;
}
