import { canonicalDigest, startDigest } from 'computation-management-formats/canonical-json';
import { check, note, type Finding } from './finding.ts';
import { detailsOf, nameOf, type Statement } from './statement.ts';

/** Checks that the parts of a statement are about the same run, and that its digest is that of its manifest. */
export function checkRun(statement: Statement): Finding[] {
  const { run, manifest, manifest_digest, computation, events, agent_config, attestation_hash } = statement;
  const { started, last } = events;
  const places = [
    ['run.computation_id', run.computation_id === computation],
    ['manifest.id', manifest.id === computation],
    ['run.manifest_digest', run.manifest_digest === manifest_digest],
    ['events.started', started.event_type === 'started' && isOf(run, started) && started.originator === run.started_by],
    ['events.last', last.event_type === run.status && isOf(run, last) && last.timestamp >= started.timestamp],
  ] as const;
  const wrong = places.filter(([, isRight]) => !isRight).map(([place]) => place);
  return [
    check(
      wrong.length === 0,
      `All parts are about the run ${run.id} of the computation ${computation} in the domain ${statement.domain}, which ended as ${run.status}.`,
      `These parts do not belong to the run ${run.id} as the statement describes it: ${wrong.join(', ')}.`,
    ),
    check(
      canonicalDigest(manifest) === manifest_digest,
      `The manifest has the digest ${manifest_digest}.`,
      `The manifest does not have the digest ${manifest_digest}.`,
    ),
    checkStart(statement),
    check(
      !('server_key' in agent_config),
      "The agent's configuration contains no private key.",
      "The agent's configuration contains a private key.",
    ),
    attestation_hash === null
      ? note('The CVM reported no hash of an attestation token.')
      : note(
          `The CVM reported the attestation token with the SHA-256 ${attestation_hash}. Compare it with the token, which the operator of the CVM or of the service has, and check the token.`,
        ),
  ];
}

/** Checks the statement against the event that was recorded at the start, and that each later event commits to. */
function checkStart(statement: Statement): Finding {
  const { started } = statement.events;
  const { manifest_digest, start_digest } = detailsOf(started);
  return check(
    manifest_digest === statement.manifest_digest && start_digest === startDigest(statement),
    `The run was started with this manifest, configuration, assets and approvals: ${nameOf(started)} has their digest.`,
    `The run was started with another manifest, configuration, assets or approvals: ${nameOf(started)} has another digest.`,
  );
}

function isOf(run: Statement['run'], event: { run_id: string; cvm_id: string }): boolean {
  return event.run_id === run.id && event.cvm_id === run.cvm_id;
}
