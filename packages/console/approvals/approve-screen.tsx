import { Alert, Box, Button, ExpandableSection, KeyValuePairs, Link } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { consentSentence, type Coverage, describeConfiguration, hasKeyHere, keyHolders } from 'computation-management-words';
import { type ComponentProps, useState } from 'react';
import { useDomain } from '../access/index.ts';
import { assetTypeText } from '../assets/asset-texts.ts';
import { Panel, ScreenFrame } from '../frame/index.ts';
import { LoadedView, refreshSeconds, useLoaded } from '../loading/index.ts';
import { ManifestView, StillMissing } from '../manifest/manifest-view.tsx';
import { aboveInComputation, addressOf, useAddress, useGoOn, useUnsavedWork } from '../routing/index.ts';
import { Bullets, factItems, Hash, Name, Quote, Term, Time, Warnings } from '../show/index.ts';
import { mayApprove } from './approval.ts';
import { ApproveForm, loadConsent } from './approve-form.tsx';
import { ChangeCards, useChanges } from './changes.tsx';
import { CompareFile, OpenText } from './check-file.tsx';
import { Picture, Sentence } from './consent-picture.tsx';
import { Limits, useLimits } from './limits.tsx';
import { Refuse } from './refuse.tsx';

/** Shows the screen that approves a computation: everything that an approval covers, what it does not protect from, and the form. */
export function ApproveScreen({ id }: { id: string }) {
  const { client, domain, me } = useDomain();
  const loaded = useLoaded(id, (signal) => loadConsent(client, me.user, id, signal));
  useUnsavedWork('open');
  const goOn = useGoOn();
  const [isRefusing, setRefusing] = useState(false);
  const toComputation = addressOf({ screen: 'computation', domain, id });
  const comesFromTodo = useAddress().query.get('from') === 'todo';
  const following = useLoaded(`${id} ${comesFromTodo}`, async (signal) => {
    const { approvals } = comesFromTodo ? await client.getTodo({ signal }) : { approvals: [] };
    return approvals.slice(approvals.findIndex(({ computation_id }) => computation_id === id) + 1);
  }).value;
  const [next] = following ?? [];
  const toNext = next && addressOf({ screen: 'approve', domain, id: next.computation_id }, { from: 'todo' });
  const afterwards = toNext ?? (comesFromTodo ? addressOf({ screen: 'todo', domain }) : toComputation);
  const { problem, value } = loaded;
  const name = value?.overview.computation.name;
  return (
    <ScreenFrame
      title="Review and approve"
      description={name !== undefined && <Name of={name} />}
      above={aboveInComputation(domain, id, name)}
      actions={toNext !== undefined && <Button href={toNext}>{`Next (${following?.length} more)`}</Button>}
    >
      {problem instanceof ServiceProblem && problem.missing_items ? (
        <Alert
          type="info"
          header="There is nothing to approve yet"
          action={<Button onClick={() => setRefusing(true)}>Refuse</Button>}
        >
          <StillMissing of={problem.missing_items} /> <Link href={toComputation}>Open the computation</Link>
        </Alert>
      ) : (
        <LoadedView loaded={loaded} what="what you approve">
          {(consent) => <Review {...{ consent, loaded, afterwards }} onRefuse={() => setRefusing(true)} />}
        </LoadedView>
      )}
      {isRefusing && <Refuse id={id} onClose={() => setRefusing(false)} onDone={() => goOn(afterwards)} />}
    </ScreenFrame>
  );
}

type ReviewProps = Omit<ComponentProps<typeof ApproveForm>, 'chosen'>;

function Review(form: ReviewProps) {
  const { consent } = form;
  const { client, me } = useDomain();
  const { overview, coverage } = consent;
  const { computation } = overview;
  const { id } = computation;
  // Also one that is given elsewhere meanwhile.
  const present = useLoaded(id, (signal) => client.listApprovals({ id, signal }), { everySeconds: refreshSeconds.approve });
  const { approvals, refusals } = present.value ?? overview.approvals;
  const mine = approvals.find(({ user }) => user === me.user);
  const refusal = refusals.find(({ user }) => user === me.user);
  const changes = useChanges(computation, mine ? [mine] : []).get(me.user) ?? [];
  const chosen = useLimits(mine);
  const sentence = consentSentence(coverage, { computation, you: me.user, limits: chosen.limits, changes });
  return (
    <>
      <Panel title="What you approve">
        <Box variant="p" fontSize="heading-m">
          <Sentence of={sentence} />
        </Box>
        {coverage.manifest.description && <Quote of={coverage.manifest.description} />}
        <Picture coverage={coverage} changes={changes} sentence={sentence} />
      </Panel>
      {refusal && (
        <Alert type="warning" header="You have refused">
          At <Time at={refusal.refused_at} />: <Quote of={refusal.reason} /> Approving ends your refusal.
        </Alert>
      )}
      {mine && <Before coverage={coverage} mine={mine} />}
      <ChangeCards of={changes} />
      <div role="region" aria-label="What your approval does not protect from">
        <Alert type="warning" header="What your approval does not protect from">
          <Bullets of={coverage.cautions} />
          <Warnings of={overview.warnings} />
        </Alert>
      </div>
      {mayApprove(me.user, overview.parties) ? (
        <ApproveForm {...form} chosen={chosen} />
      ) : (
        <Alert type="info">Only the owner, the creators of the files and those who receive the results can approve.</Alert>
      )}
      <Panel title="Check the files">
        <ul className="plain stack" aria-label="Files to check">
          {coverage.files.map((file) => (
            <li key={file.index} className="row">
              {assetTypeText(file.type)} {file.name === undefined ? 'without a name' : <Name of={file.name} />}
              <Check file={file} />
            </li>
          ))}
        </ul>
      </Panel>
      <ExpandableSection variant="container" headerText="For experts: digests, keys, certificates and JSON">
        <div className="stack">
          <ManifestView {...coverage} digest={coverage.manifest_digest} isKnown />
          <ConfigurationView coverage={coverage} />
        </div>
      </ExpandableSection>
    </>
  );
}

/** Shows the approval that the user gave before, with its limits, and whether it still counts. */
function Before({ coverage, mine }: { coverage: Coverage; mine: Schemas['Approval'] }) {
  if (mine.stale) {
    return (
      <Alert type="warning" header="Your approval does not count any more">
        You approved at <Time at={mine.approved_at} />. What has changed since then is below.
        <Limits {...mine} />
      </Alert>
    );
  }
  if (mine.digest !== coverage.manifest_digest || mine.configuration_digest !== coverage.configuration_digest) {
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
      <Limits {...mine} />
    </Alert>
  );
}

function Check({ file: { type, name, hash, asset } }: { file: Coverage['files'][number] }) {
  const { client, me } = useDomain();
  const isMine = asset?.created_by === me.user;
  const isKeyed = isMine && hasKeyHere(asset);
  const key = useLoaded(`${asset?.id ?? ''} ${isKeyed}`, async (signal) =>
    isKeyed ? await client.getAssetKey({ id: asset.id, signal }) : undefined,
  ).value;
  const isOpen = asset?.state === 'ready' && asset.size !== null && (isMine || asset.content_access === 'domain');
  return (
    <div className="stack">
      <CompareFile what={`the ${type} ${name ?? ''}`.trim()} hash={hash} />
      {key && <div>Who can open its key: {keyHolders[key.held]}.</div>}
      {type === 'algorithm' && isOpen && <OpenText key={hash} id={asset.id} creator={asset.created_by} hash={hash} />}
    </div>
  );
}

function ConfigurationView({ coverage: { configuration, configuration_digest } }: { coverage: Coverage }) {
  const [machines, ...facts] = factItems(describeConfiguration(configuration));
  return (
    <KeyValuePairs
      columns={1}
      items={[
        ...(machines ? [{ ...machines, info: <Term of="attestation" /> }] : []),
        ...facts,
        {
          label: 'Digest of the configuration',
          value: <Hash value={configuration_digest} what="digest of the configuration" isWhole />,
        },
      ]}
    />
  );
}
