import { Alert, Badge, Button, FormField, KeyValuePairs, Link, SpaceBetween, Tabs } from '@cloudscape-design/components';
import { type ReactNode, useEffect, useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { ApprovalsPanel } from '../approvals/approvals-panel.tsx';
import { EventsTable } from '../events/events-table.tsx';
import { Panel, ScreenFrame } from '../frame/screen-frame.tsx';
import { loadOverview, type Overview, type Party } from '../loading/overview.ts';
import { LoadedView } from '../loading/problem-alert.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { navigate, useAddress, useGoOn } from '../routing/navigation.ts';
import { aboveComputation, addressOf, tabOf, tabQuery } from '../routing/places.ts';
import { RunsTable } from '../runs/runs-table.tsx';
import { InputsPanel } from './inputs-panel.tsx';
import { Debts, nextStep, ReadinessPanel } from './readiness-panel.tsx';
import { ConfirmModal, DeleteModal } from '../frame/confirm-modal.tsx';
import { RemoveKey, UploadKey } from '../keys/key-dialogs.tsx';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { approvalTexts, describeAgent, describeMissing } from 'computation-management-words';
import { CvmInput } from '../cvms/cvm-input.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { configurationOf } from 'computation-management-formats/approval-text';
import { factItems, Hash } from '../show/hash.tsx';
import { Names, User } from '../show/visible-texts.tsx';
import { Moment } from '../show/time.tsx';
import { type Column, FactTable } from '../lists/columns.tsx';
import { StatusIndicator } from '../show/status.tsx';

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

/** Shows a dialog that starts a run on a CVM, or explains what is missing. */
export function StartRun({ overview, first, onClose }: { overview: Overview; first: string; onClose: () => void }) {
  const { client, domain, exampleCvm } = useDomain();
  const goOn = useGoOn();
  const [cvm, setCvm] = useState(first);
  const { computation, isReady } = overview;
  const { id, name } = computation;
  const start = useAction(async () => {
    const run = await client.startRun({ id, cvm: cvm.trim() });
    goOn(addressOf({ screen: 'run', domain, id, run }));
  });
  // The service says what would refuse a run on the chosen CVM, before the user presses the button.
  const chosen = usePaused(cvm.trim());
  const check = useLoaded(`${id} ${chosen}`, async (signal) =>
    chosen === '' || !isReady ? [] : describeMissing((await client.dryRun({ id, cvm: chosen, signal })).missing_items),
  );
  const refused = (chosen === cvm.trim() && check.value) || [];
  const activeRun = start.problem instanceof ServiceProblem ? start.problem.run_id : undefined;
  const errors = fieldErrors(start.problem, ['query/cvm']);
  return (
    <ConfirmModal
      title={
        <>
          Start a run of <bdi>{name}</bdi>
        </>
      }
      confirm="Start run"
      action={start}
      fields={errors.fields}
      isDisabled={!isReady || cvm.trim() === '' || refused.length > 0}
      onClose={onClose}
    >
      {isReady ? (
        <FormField
          label="CVM"
          description="The confidential virtual machine that runs the algorithm."
          errorText={errors.at('query/cvm')}
          constraintText={exampleCvm !== undefined && `Simulated CVMs answer to any name here, such as ${exampleCvm}.`}
        >
          <CvmInput value={cvm} onChange={setCvm} />
        </FormField>
      ) : (
        <Alert type="warning" header="A run cannot start yet">
          <Debts overview={overview} />
        </Alert>
      )}
      {refused.length > 0 && (
        <Alert type="warning" header="A run cannot start on this CVM">
          <ul>
            {refused.map(({ sentence }) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Alert>
      )}
      {activeRun !== undefined && (
        <Link href={addressOf({ screen: 'run', domain, id, run: activeRun })}>Open the conflicting run</Link>
      )}
    </ConfirmModal>
  );
}

const pauseInMilliseconds = 400;

/** Returns a text that the user types as it was at the latest pause in typing. */
function usePaused(typed: string): string {
  const [paused, setPaused] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(typed), pauseInMilliseconds);
    return () => clearTimeout(timer);
  }, [typed]);
  return paused;
}

export function SummaryPanel({ overview: { computation } }: { overview: Overview }) {
  const { id, owner, approval, consumers, providers, created_at, updated_at } = computation;
  return (
    <Panel title="Summary">
      <KeyValuePairs
        columns={4}
        items={[
          { label: 'Owner', value: <User of={owner} /> },
          { label: 'Identifier', value: <Hash value={id} what="identifier" isWhole /> },
          { label: 'Approval', value: approvalTexts[approval] },
          {
            label: 'Result consumers',
            value:
              consumers.length > 0 ? (
                <Names of={consumers} as={User} />
              ) : (
                'Everyone with the role result_consumer who uploads a key'
              ),
          },
          {
            label: 'Providers',
            value: providers.length > 0 ? <Names of={providers} as={User} /> : 'Everyone who provides assets',
          },
          { label: 'Created', value: <Moment at={created_at} /> },
          { label: 'Updated', value: <Moment at={updated_at} /> },
        ]}
      />
    </Panel>
  );
}

/** Shows the configuration of a computation's agent, which runs in the CVM. */
export function ConfigurationTab({ computation }: { computation: Schemas['Computation'] }) {
  const { log_level, server_key } = computation.agent_config;
  return (
    <Panel title="Agent" description="What the agent in the CVM is started with.">
      <KeyValuePairs
        columns={2}
        items={[
          { label: 'Log level', value: log_level || 'Default' },
          ...factItems(describeAgent(configurationOf(computation).agent_config)),
          {
            label: 'Private key',
            value:
              server_key === undefined
                ? 'Withheld: only those who may edit the computation see it'
                : server_key === ''
                  ? 'None'
                  : 'Set. It is shown when you edit the computation',
          },
        ]}
      />
    </Panel>
  );
}

interface PartiesProps {
  overview: Overview;
  reload: () => void;
}

/** Shows who takes part in a computation. */
export function PartiesPanel({ overview, reload }: PartiesProps) {
  const { me } = useDomain();
  const [dialog, setDialog] = useState<'upload' | 'remove'>();
  const { parties, hasMyKey, computation } = overview;
  const close = () => setDialog(undefined);
  const done = () => {
    close();
    reload();
  };
  const columns: Column<Party>[] = [
    {
      id: 'user',
      header: 'User',
      isRowHeader: true,
      cell: ({ user }) => (
        <>
          <User of={user} /> {user === me.user && <Badge color="blue">you</Badge>}
        </>
      ),
    },
    {
      id: 'parts',
      header: 'Takes part with',
      isSecondary: true,
      cell: ({ parts }) => (parts.length > 0 ? <Names of={parts} /> : '-'),
    },
  ];
  return (
    <>
      <FactTable
        title="Parties"
        counter={`(${parties.length})`}
        actions={
          <SpaceBetween direction="horizontal" size="xs" alignItems="center">
            <StatusIndicator type={hasMyKey ? 'success' : 'pending'}>
              {hasMyKey ? 'Your public key is here' : 'Your public key is missing'}
            </StatusIndicator>
            <Button onClick={() => setDialog('upload')}>{hasMyKey ? 'Replace key' : 'Upload key'}</Button>
            {(hasMyKey || permissions.removeKeys(me, computation)) && (
              <Button onClick={() => setDialog('remove')}>Remove key</Button>
            )}
          </SpaceBetween>
        }
        items={parties}
        rowKey={({ user }) => user}
        columns={columns}
      />
      {dialog === 'upload' && <UploadKey id={computation.id} onClose={close} onUploaded={done} />}
      {dialog === 'remove' && <RemoveKey computation={computation} onClose={close} onRemoved={done} />}
    </>
  );
}
