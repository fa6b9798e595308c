import { KeyValuePairs, Link } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useDomain } from '../access/console-context.ts';
import { AttestationBadge } from '../attestation/attestation-panel.tsx';
import { Panel } from '../frame/panel.tsx';
import { useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { Hash } from '../show/hash.tsx';
import { Status, StatusIndicator } from '../show/status.tsx';
import { Term } from '../show/term.tsx';
import { Elapsed, Moment } from '../show/time.tsx';
import { Name } from '../show/visible-texts.tsx';

/**
 * Shows the facts of a run and its attestation.
 * @param latest the type of the run's latest event. When the type changes, the attestation is read again
 */
export function RunSummary({ run, latest }: { run: Schemas['Run']; latest: string | undefined }) {
  const { domain, client } = useDomain();
  const { id, status, cvm_id, started_at, ended_at, started_by, manifest_digest, computation_id } = run;
  const attestation = useLoaded(`${id} ${status} ${latest ?? ''}`, (signal) =>
    client.getAttestation({ id: computation_id, run: id, signal }),
  );
  return (
    <>
      <Panel title="Summary">
        <KeyValuePairs
          columns={4}
          items={[
            { label: 'Status', value: <Status status={status} /> },
            { label: 'CVM', value: <Link href={addressOf({ screen: 'cvm', domain, cvm: cvm_id })}>{cvm_id}</Link> },
            { label: 'Started by', value: <Name of={started_by} /> },
            { label: 'Started', value: <Moment at={started_at} /> },
            { label: 'Ended', value: ended_at === null ? 'Not yet' : <Moment at={ended_at} /> },
            { label: 'Duration', value: <Elapsed from={started_at} to={ended_at} /> },
            { label: 'Identifier', value: <Hash value={id} what="identifier" /> },
            { label: 'Manifest digest', value: <Hash value={manifest_digest} what="manifest digest" /> },
          ]}
        />
      </Panel>
      <Panel title="Attestation" info={<Term of="attestation" />}>
        {attestation.value ? (
          <AttestationBadge attestation={attestation.value} />
        ) : attestation.problem === undefined ? (
          <StatusIndicator type="loading">Reading</StatusIndicator>
        ) : (
          <StatusIndicator type="warning">Not read: the service did not say</StatusIndicator>
        )}
      </Panel>
    </>
  );
}
