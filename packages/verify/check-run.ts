import { fromBase64 } from 'computation-management-formats/bytes';
import { canonicalDigest, hashOfBytes, startDigest } from 'computation-management-formats/digests';
import { timeOf } from 'computation-management-formats/timestamps';
import { check, falseAmong, type Finding, quoted } from './finding.ts';
import { type ChainedEvent, detailsOf, nameOf, type Statement } from './statement.ts';

/**
 * Checks that the parts of a statement are about the same run, and that the manifest and the configuration have the stated
 * digests.
 */
export function checkRun(statement: Statement): Finding[] {
  const { run, manifest, manifest_digest, configuration, configuration_digest, computation, events, assets } = statement;
  const { started, last } = events;
  const [cvm, fingerprint] = [`The CVM ${quoted(run.cvm_id)}`, statement.certificate_fingerprint];
  const wrong = falseAmong({
    'run.computation_id': run.computation_id === computation,
    'manifest.id': manifest.id === computation,
    'run.manifest_digest': run.manifest_digest === manifest_digest,
    'run.configuration_digest': run.configuration_digest === configuration_digest,
    'configuration.approval': configuration.approval === statement.approval,
    'events.started': started.event_type === 'started' && isOf(run, started) && started.originator === run.started_by,
    'events.last': isEnd(run, last) && isOf(run, last) && timeOf(last.timestamp) >= timeOf(started.timestamp),
    'run.started_at': isAround(run.started_at, started.timestamp),
    'run.ended_at': isAround(run.ended_at, last.timestamp) && isInOrder(run.started_at, run.ended_at),
    'run.reason': (detailsOf(last)['reason'] ?? null) === run.reason,
    'run.reason_code': (detailsOf(last)['reason_code'] ?? null) === run.reason_code,
    issued_at: isInOrder(last.timestamp, statement.issued_at),
    assets: new Set(assets.map(({ id }) => id)).size === assets.length,
  });
  return [
    check(
      wrong.length === 0,
      `All parts are about the run ${quoted(run.id)} of the computation ${quoted(computation)} in the domain ${quoted(statement.domain)}, which ended as ${quoted(run.status)}.`,
      `These parts do not belong to the run ${quoted(run.id)} as the statement describes it: ${wrong.join(', ')}.`,
    ),
    checkDigest('manifest', manifest, manifest_digest),
    checkDigest('configuration', configuration, configuration_digest),
    checkStart(statement),
    check(
      fingerprintIn(statement.certificate) === fingerprint,
      `${cvm} had ${fingerprint === null ? 'no certificate' : `a certificate with the fingerprint ${quoted(fingerprint)}`}.`,
      `${cvm} had a certificate whose fingerprint is not the stated one.`,
    ),
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

const isEnd = (run: Statement['run'], { event_type, status, originator }: ChainedEvent) =>
  event_type === run.status && originator === 'system' && status === (run.status === 'failed' ? 'failure' : 'success');

/**
 * The most milliseconds by which times of one service may be out of order, because its clocks differ or are set back. An event then
 * has the time of the event before it.
 */
export const clockTolerance = 5 * 60_000;

/** Returns whether a time in RFC 3339 is not later than another one by more than 5 minutes. False if one of the texts is no time. */
export const isInOrder = (earlier: string, later: string): boolean => timeOf(earlier) <= timeOf(later) + clockTolerance;

/** Returns whether two times in RFC 3339 differ by at most 5 minutes. False if one of the texts is no time. */
export const isAround = (time: string, other: string) => isInOrder(time, other) && isInOrder(other, time);

/**
 * Returns the fingerprint of a certificate in PEM: the SHA-256 of its DER in hex, which API, console and `cms` show. Null without a
 * certificate, undefined if the text is not exactly one.
 */
function fingerprintIn(pem: string | null): string | null | undefined {
  if (pem === null) return null;
  const [, base64 = ''] = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/.exec(pem) ?? [];
  const der = fromBase64(base64.replaceAll(/\s/g, ''));
  return der && der.length > 0 ? hashOfBytes(der) : undefined;
}

const isOf = (run: Statement['run'], event: { run_id: string; cvm_id: string }) =>
  event.run_id === run.id && event.cvm_id === run.cvm_id;
