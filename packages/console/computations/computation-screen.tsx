import { Button, Tabs } from '@cloudscape-design/components';
import { type ReactNode, useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { ApprovalsPanel } from '../approvals/approvals-panel.tsx';
import { EventsTable } from '../events/events-table.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { loadOverview, type Overview } from '../loading/overview.ts';
import { LoadedView } from '../loading/problem-alert.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { navigate, useAddress } from '../routing/navigation.ts';
import { aboveComputation, addressOf, tabOf, tabQuery } from '../routing/places.ts';
import { RunsTable } from '../runs/runs-table.tsx';
import { ConfigurationTab, SummaryPanel } from './summary-panel.tsx';
import { InputsPanel } from './inputs-panel.tsx';
import { PartiesPanel } from './parties-panel.tsx';
import { nextStep } from './readiness.ts';
import { ReadinessPanel } from './readiness-panel.tsx';
import { StartRun } from './start-run.tsx';
import { DeleteModal } from '../frame/confirm-modal.tsx';
import { UploadKey } from '../keys/key-dialogs.tsx';

/** Shows a computation: who takes part, what a run still needs, its manifest, its runs and its events. */
export function ComputationScreen({ id }: { id: string }) {
  const { domain, client, me } = useDomain();
  const cvm = useAddress().query.get('start'); // Run again
  const [asked, setAsked] = useState<'start' | 'delete' | 'key' | undefined>(cvm === null ? undefined : 'start');
  const loaded = useLoaded(id, (signal) => loadOverview(client, id, signal), { everySeconds: refreshSeconds.computation });
  const computation = loaded.value?.computation;
  const isActive = computation?.status === 'running' || computation?.status === 'stopping';
  const step = loaded.value && nextStep(loaded.value, { domain, me });
  const close = () => setAsked(undefined);
  const closeAndReload = () => {
    close();
    loaded.reload();
  };

  return (
    <ScreenFrame
      title={computation?.name ?? 'Computation'}
      description={computation?.description}
      above={aboveComputation(domain)}
      actions={
        computation && (
          <>
            <Button iconName="refresh" ariaLabel="Refresh" loading={loaded.isLoading} onClick={loaded.reload} />
            {permissions.deleteComputation(me, computation) && (
              <Button disabled={isActive} disabledReason="A run is active. Stop it first." onClick={() => setAsked('delete')}>
                Delete
              </Button>
            )}
            {permissions.createComputation(me) && (
              <Button href={addressOf({ screen: 'new-computation', domain }, { from: id })}>Duplicate</Button>
            )}
            {permissions.editComputation(me, computation) && (
              <Button href={addressOf({ screen: 'edit-computation', domain, id })}>Edit</Button>
            )}
            {permissions.startRun(me, computation) && (
              <Button
                variant={step?.does === 'start' ? 'primary' : 'normal'}
                disabled={isActive}
                disabledReason="A run is active."
                onClick={() => setAsked('start')}
              >
                Start run
              </Button>
            )}
            {step?.does === 'add-key' && (
              <Button variant="primary" onClick={() => setAsked('key')}>
                Add your key
              </Button>
            )}
            {step?.does === 'go' && (
              <Button variant="primary" href={step.href}>
                {step.text}
              </Button>
            )}
          </>
        )
      }
    >
      <LoadedView loaded={loaded} what="the computation">
        {(overview) => (
          <>
            <ComputationTabs id={id} overview={overview} reload={loaded.reload} />
            {asked === 'key' && <UploadKey id={id} onClose={close} onUploaded={closeAndReload} />}
            {asked === 'start' && <StartRun overview={overview} first={cvm ?? ''} onClose={close} />}
            {asked === 'delete' && (
              <DeleteModal
                name={overview.computation.name}
                remove={() => client.deleteComputation({ id, ifMatch: overview.etag })}
                notice={`${overview.computation.name} is deleted.`}
                list={addressOf({ screen: 'computations', domain })}
                onClose={close}
                onReadAgain={closeAndReload}
              >
                Its runs, events, keys and evidence are deleted too. This cannot be undone. The linked assets stay.
              </DeleteModal>
            )}
          </>
        )}
      </LoadedView>
    </ScreenFrame>
  );
}

const tabs = ['overview', 'manifest', 'runs', 'events', 'configuration'] as const;

function ComputationTabs({ id, overview, reload }: { id: string; overview: Overview; reload: () => void }) {
  const { domain } = useDomain();
  const active = tabOf(useAddress().query, tabs);
  const contents: Record<(typeof tabs)[number], () => ReactNode> = {
    overview: () => (
      <>
        <ReadinessPanel overview={overview} />
        <SummaryPanel overview={overview} />
        <PartiesPanel overview={overview} reload={reload} />
        <InputsPanel overview={overview} reload={reload} />
        <ApprovalsPanel overview={overview} reload={reload} />
      </>
    ),
    manifest: () => <ManifestTab id={id} digest={overview.digest} inputs={overview.inputs} />,
    runs: () => <RunsTable computation={id} />,
    events: () => <EventsTable id={id} />,
    configuration: () => <ConfigurationTab computation={overview.computation} />,
  };
  return (
    <Tabs
      ariaLabel="Parts of the computation"
      activeTabId={active}
      onChange={({ detail }) => navigate(addressOf({ screen: 'computation', domain, id }, tabQuery(detail.activeTabId, tabs)))}
      tabs={tabs.map((tab) => ({
        id: tab,
        label: tab.charAt(0).toUpperCase() + tab.slice(1),
        content: tab === active && <div className="stack">{contents[tab]()}</div>,
      }))}
    />
  );
}
