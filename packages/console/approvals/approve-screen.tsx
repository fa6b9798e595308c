import Alert from '@cloudscape-design/components/alert';
import Container from '@cloudscape-design/components/container';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import Link from '@cloudscape-design/components/link';
import { ServiceProblem } from 'computation-management-client';
import { approvalTexts } from 'computation-management-formats/approval-cautions';
import type { Configuration } from 'computation-management-formats/approval-text';
import { policyLines } from 'computation-management-formats/attestation';
import { useDomain } from '../access/console-context.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { LoadedView } from '../loading/problem-alert.tsx';
import { missingSentences } from '../loading/problem-text.ts';
import { type Loaded, refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import type { FileRow } from '../manifest/manifest-rows.ts';
import { ManifestView } from '../manifest/manifest-view.tsx';
import { aboveInComputation, addressOf } from '../routing/places.ts';
import { useUnsavedWork } from '../routing/unsaved-work.ts';
import { Hash, Lines, Pem } from '../show/hash.tsx';
import { StatusIndicator } from '../show/status.tsx';
import { Time } from '../show/time.tsx';
import { Name } from '../show/visible-texts.tsx';
import { mayApprove } from './approval.ts';
import { ApproveForm } from './approve-form.tsx';
import { Changes, useChanges } from './changes.tsx';
import { CompareFile } from './compare-file.tsx';
import { type Consent, loadConsent } from './consent.ts';
import { OpenText } from './open-text.tsx';

/** Shows all that an approval covers, and what it does not, and takes the approval. */
export function ApproveScreen({ id }: { id: string }) {
  const { client, domain } = useDomain();
  const loaded = useLoaded(id, (signal) => loadConsent(client, id, signal));
  useUnsavedWork('open');
  const { problem, value } = loaded;
  const name = value?.overview.computation.name;
  return (
    <ScreenFrame
      title="Review and approve"
      description={name !== undefined && <Name of={name} />}
      above={aboveInComputation(domain, id, name)}
    >
      {problem instanceof ServiceProblem && problem.missing_items ? (
        <Alert type="info" header="There is nothing to approve yet">
          A manifest exists when nothing of it is missing. Still missing: {missingSentences(problem.missing_items).join('. ')}.{' '}
          <Link href={addressOf({ screen: 'computation', domain, id })}>Open the computation</Link>
        </Alert>
      ) : (
        <LoadedView loaded={loaded} what="what you approve">
          {(consent) => <Review consent={consent} loaded={loaded} />}
        </LoadedView>
      )}
    </ScreenFrame>
  );
}

function Review({ consent, loaded }: { consent: Consent; loaded: Loaded<Consent> }) {
  const { me } = useDomain();
  const { overview, manifest, configuration, digests, owners, cautions } = consent;
  return (
    <>
      <Before consent={consent} />
      <div role="region" aria-label="What your approval does not protect from">
        <Alert type="warning" header="What your approval does not protect from">
          <ul>
            {[...cautions, ...overview.warnings.map((warning) => `${warning}.`)].map((caution) => (
              <li key={caution}>{caution}</li>
            ))}
          </ul>
        </Alert>
      </div>
      <Container header={<Header variant="h2">What runs, on what, and for whom</Header>}>
        <ManifestView
          manifest={manifest}
          digest={digests.manifest_digest}
          owners={owners}
          inputs={overview.inputs}
          check={(row) => <Check row={row} />}
        />
      </Container>
      <Container header={<Header variant="h2">Where and how it runs</Header>}>
        <ConfigurationView configuration={configuration} digest={digests.configuration_digest} />
      </Container>
      {mayApprove(me.user, overview) ? (
        <ApproveForm consent={consent} loaded={loaded} />
      ) : (
        <Alert type="info">Only the owner, the creators of the files and those who receive the results can approve.</Alert>
      )}
    </>
  );
}

/** What the user has approved before, and what has changed since. Notices an approval that is given elsewhere meanwhile. */
function Before({ consent: { overview, digests } }: { consent: Consent }) {
  const { client, me } = useDomain();
  const { computation } = overview;
  const { id } = computation;
  const { manifest_digest, configuration_digest } = digests;
  const present = useLoaded(id, (signal) => client.listApprovals({ id, signal }), { everySeconds: refreshSeconds.approve });
  const mine = (present.value ?? overview.approvals).approvals.find(({ user }) => user === me.user);
  const changes = useChanges(computation, mine ? [mine] : []).get(me.user) ?? [];
  if (!mine) return null;
  if (mine.stale) {
    return (
      <Alert type="warning" header="Your approval does not count any more">
        You approved at <Time at={mine.approved_at} />. Since then:
        <Changes of={changes} />
      </Alert>
    );
  }
  if (mine.digest !== manifest_digest || mine.configuration_digest !== configuration_digest) {
    return (
      <Alert type="warning" header="You have approved something else">
        The computation has changed since this page was opened. Reload the page.
      </Alert>
    );
  }
  return (
    <Alert type="success" header="You have approved this">
      At <Time at={mine.approved_at} />
      {mine.signed ? ', with a signature' : ''}. Approving again replaces that approval.
    </Alert>
  );
}

function Check({ row: { type, name, hash, asset } }: { row: FileRow }) {
  const { me } = useDomain();
  const isMine = asset?.created_by === me.user;
  const isOpen = asset?.state === 'ready' && !asset.source && (isMine || asset.content_access === 'domain');
  return (
    <div className="stack">
      <CompareFile what={`the ${type} ${name ?? ''}`.trim()} hash={hash} />
      {type === 'algorithm' && isOpen && asset.created_by !== undefined && (
        <OpenText key={hash} id={asset.id} creator={asset.created_by} isMine={isMine} hash={hash} />
      )}
    </div>
  );
}

function ConfigurationView({ configuration, digest }: { configuration: Configuration; digest: string }) {
  const { agent_config, approval, attestation_policy: policy, log_access } = configuration;
  return (
    <KeyValuePairs
      columns={2}
      items={[
        {
          label: 'Machines',
          value: policy ? (
            <Lines of={policyLines(policy)} />
          ) : (
            <StatusIndicator type="warning">Any: no attestation is asked for</StatusIndicator>
          ),
        },
        {
          label: 'TLS of the agent',
          value: agent_config.attested_tls ? (
            <StatusIndicator type="success">Attested</StatusIndicator>
          ) : (
            <StatusIndicator type="warning">Not attested</StatusIndicator>
          ),
        },
        { label: 'Certificate of the agent', value: <Pem text={agent_config.cert_file} /> },
        { label: 'CA of the server', value: <Pem text={agent_config.server_ca_file} /> },
        { label: 'CA of the clients', value: <Pem text={agent_config.client_ca_file} /> },
        { label: 'Whose approval a run needs', value: approvalTexts[approval] },
        {
          label: 'Who reads the logs of a run',
          value: log_access === 'none' ? 'Nobody' : <StatusIndicator type="warning">All parties</StatusIndicator>,
        },
        {
          label: 'Digest of the configuration',
          value: <Hash value={digest} what="digest of the configuration" isWhole />,
        },
      ]}
    />
  );
}
