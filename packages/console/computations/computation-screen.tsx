import {
  Alert,
  Button,
  ButtonDropdown,
  type ButtonDropdownProps,
  FormField,
  KeyValuePairs,
  Link,
  Tabs,
} from '@cloudscape-design/components';
import { type ReactNode, useEffect, useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { MachineHelp } from '../attestation/machine-help.tsx';
import { EventsTable } from '../events/events-table.tsx';
import { Panel, ScreenFrame } from '../frame/screen-frame.tsx';
import { loadOverview, type Overview } from '../loading/overview.ts';
import { LoadedView } from '../loading/problem-alert.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { navigate, useAddress, useGoOn } from '../routing/navigation.ts';
import { aboveComputation, addressOf, tabOf, tabQuery } from '../routing/places.ts';
import { RunsTable } from '../runs/runs-table.tsx';
import { InputsPanel } from './inputs-panel.tsx';
import { PeoplePanel } from './people-panel.tsx';
import { type Move, nextMove } from './steps.ts';
import { Debts, StepsPanel } from './steps-panel.tsx';
import { ConfirmModal, DeleteModal } from '../frame/confirm-modal.tsx';
import { UploadKey } from '../keys/key-dialogs.tsx';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { describeConfiguration, describeMissing } from 'computation-management-words';
import { CvmInput } from '../cvms/cvm-input.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { configurationOf } from 'computation-management-formats/approval-text';
import { factItems, Hash } from '../show/hash.tsx';
import { Names, User } from '../show/visible-texts.tsx';
import { Moment } from '../show/time.tsx';

/** Shows a computation: who takes part, what a run still needs, its manifest, its runs and its events. */
export function ComputationScreen({ id }: { id: string }) {
  const { domain, client, me } = useDomain();
  const cvm = useAddress().query.get('start'); // Run again
  const [asked, setAsked] = useState<'start' | 'delete' | 'key' | undefined>(cvm === null ? undefined : 'start');
  const loaded = useLoaded(id, (signal) => loadOverview(client, id, signal), { everySeconds: refreshSeconds.computation });
  const computation = loaded.value?.computation;
  const isActive = computation?.status === 'running' || computation?.status === 'stopping';
  const move = loaded.value && nextMove(loaded.value, { domain, me });
  const more: ButtonDropdownProps.Items = computation
    ? [
        ...(permissions.createComputation(me)
          ? [{ id: 'duplicate', text: 'Duplicate', href: addressOf({ screen: 'new-computation', domain }, { from: id }) }]
          : []),
        ...(permissions.deleteComputation(me, computation)
          ? [{ id: 'delete', text: 'Delete', disabled: isActive, disabledReason: 'A run is active. Stop it first.' }]
          : []),
      ]
    : [];
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
            {permissions.startRun(me, computation) && (
              <Button
                variant={move?.does === 'start' ? 'primary' : 'normal'}
                disabled={isActive}
                disabledReason="A run is active."
                onClick={() => setAsked('start')}
              >
                Start run
              </Button>
            )}
            {permissions.editComputation(me, computation) && (
              <Button href={addressOf({ screen: 'edit-computation', domain, id })}>Edit</Button>
            )}
            {more.length > 0 && (
              <ButtonDropdown
                ariaLabel="More actions"
                items={more}
                onItemClick={({ detail }) => {
                  if (detail.id === 'delete') setAsked('delete');
                }}
              >
                More
              </ButtonDropdown>
            )}
          </>
        )
      }
    >
      <LoadedView loaded={loaded} what="the computation">
        {(overview) => (
          <>
            <ComputationTabs id={id} overview={overview} move={move} onAddKey={() => setAsked('key')} reload={loaded.reload} />
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

interface TabsProps {
  id: string;
  overview: Overview;
  move: Move | undefined;
  onAddKey: () => void;
  reload: () => void;
}

function ComputationTabs({ id, overview, move, onAddKey, reload }: TabsProps) {
  const { domain } = useDomain();
  const active = tabOf(useAddress().query, tabs);
  const contents: Record<(typeof tabs)[number], () => ReactNode> = {
    overview: () => (
      <>
        <StepsPanel overview={overview} move={move} onAddKey={onAddKey} />
        <PeoplePanel overview={overview} reload={reload} />
        <InputsPanel overview={overview} reload={reload} />
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
      obstacle={
        !isReady || refused.length > 0
          ? 'The service would refuse this run.'
          : cvm.trim() === ''
            ? 'Name a CVM first.'
            : undefined
      }
      onClose={onClose}
    >
      {isReady ? (
        <FormField
          label="CVM"
          description="The confidential virtual machine that runs the algorithm."
          errorText={errors.at('query/cvm')}
          constraintText={exampleCvm !== undefined && simulatedText(exampleCvm, computation.attestation_policy !== null)}
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
              <li key={sentence} className="long-words">
                {sentence}
              </li>
            ))}
          </ul>
          {computation.attestation_policy !== null && <MachineHelp />}
        </Alert>
      )}
      {activeRun !== undefined && (
        <Link href={addressOf({ screen: 'run', domain, id, run: activeRun })}>Open the conflicting run</Link>
      )}
    </ConfirmModal>
  );
}

function simulatedText(example: string, hasPolicy: boolean): string {
  return hasPolicy
    ? `Simulated CVMs such as ${example} have no evidence: the policy of this computation refuses them.`
    : `Simulated CVMs answer to any name here, such as ${example}.`;
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

/** Shows the facts of a computation and its whole configuration, of which an approval covers every part but the log level. */
function ConfigurationTab({ computation }: { computation: Schemas['Computation'] }) {
  const { id, owner, consumers, providers, created_at, updated_at } = computation;
  const { log_level, server_key } = computation.agent_config;
  return (
    <>
      <Panel title="Summary">
        <KeyValuePairs
          columns={4}
          items={[
            { label: 'Owner', value: <User of={owner} /> },
            { label: 'Identifier', value: <Hash value={id} what="identifier" isWhole /> },
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
      <Panel title="Where and how it runs" description={<MachineHelp />}>
        <KeyValuePairs
          columns={2}
          items={[
            ...factItems(describeConfiguration(configurationOf(computation))),
            { label: 'Log level of the agent', value: log_level || 'Default' },
            {
              label: 'Private key of the agent',
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
    </>
  );
}
