import { Alert, Button, ButtonDropdown, type ButtonDropdownProps, FormField, KeyValuePairs } from '@cloudscape-design/components';
import { type ComponentProps, useState } from 'react';
import { permissions, useDomain } from '../access/index.ts';
import { MachineHelp } from '../attestation/machine-help.tsx';
import { machineLines } from '../attestation/machines.ts';
import { EventsTable } from '../events/events-table.tsx';
import { ConfirmModal, DeleteModal, GoTo, Panel, PlaceTabs, ScreenFrame, useAsked } from '../frame/index.ts';
import { fieldErrors, LoadedView, loadOverview, type Overview, refreshSeconds, useAction, useLoaded } from '../loading/index.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { aboveComputation, addressOf, useAddress, useGoOn } from '../routing/index.ts';
import { RunsTable } from '../runs/runs-table.tsx';
import { InputsPanel } from './inputs-panel.tsx';
import { PeoplePanel } from './people-panel.tsx';
import { nextMove } from './steps.ts';
import { StepsPanel } from './steps-panel.tsx';
import { UploadKey } from '../keys/key-dialogs.tsx';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { describeConfiguration, describeMissing } from 'computation-management-words';
import { CvmInput } from '../cvms/cvm-input.tsx';
import { configurationOfComputation } from 'computation-management-formats/consent';
import { Bullets, factItems, Hash, Moment, Names, User } from '../show/index.ts';

/** Shows a computation: who takes part, what a run still needs, its manifest, its runs and its events. */
export function ComputationScreen({ id }: { id: string }) {
  const { domain, client, me } = useDomain();
  const cvm = useAddress().query.get('start'); // Run again
  const loaded = useLoaded(id, (signal) => loadOverview(client, id, signal), { everySeconds: refreshSeconds.computation });
  const { asked, setAsked, dialog } = useAsked<'start' | 'delete' | 'key'>(loaded.reload, cvm === null ? undefined : 'start');
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

  return (
    <ScreenFrame
      title={computation?.name ?? 'Computation'}
      description={computation?.description}
      above={aboveComputation(domain)}
      {...(computation && { loaded })}
      actions={
        computation && (
          <>
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
            <ComputationTabs overview={overview} move={move} onAddKey={() => setAsked('key')} reload={loaded.reload} />
            {asked === 'key' && <UploadKey id={id} {...dialog} />}
            {asked === 'start' && <StartRun overview={overview} first={cvm ?? ''} onClose={dialog.onClose} />}
            {asked === 'delete' && (
              <DeleteModal
                name={overview.computation.name}
                remove={() => client.deleteComputation({ id, ifMatch: overview.etag })}
                list={addressOf({ screen: 'computations', domain })}
                {...dialog}
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

type TabsProps = ComponentProps<typeof StepsPanel> & { reload: () => void };

function ComputationTabs({ reload, ...props }: TabsProps) {
  const { overview } = props;
  const { id } = overview.computation;
  const { domain } = useDomain();
  return (
    <PlaceTabs
      label="Parts of the computation"
      place={{ screen: 'computation', domain, id }}
      parts={{
        overview: () => (
          <>
            <StepsPanel {...props} />
            <PeoplePanel overview={overview} reload={reload} />
            <InputsPanel overview={overview} reload={reload} />
          </>
        ),
        manifest: () => <ManifestTab id={id} digest={overview.digest} inputs={overview.inputs} />,
        runs: () => <RunsTable computation={id} />,
        events: () => <EventsTable id={id} />,
        configuration: () => <ConfigurationTab computation={overview.computation} />,
      }}
    />
  );
}

/** Shows a dialog that starts a run on a CVM, or explains what is missing. */
function StartRun({ overview, first, onClose }: { overview: Overview; first: string; onClose: () => void }) {
  const { client, domain, exampleCvm } = useDomain();
  const goOn = useGoOn();
  const [cvm, setCvm] = useState(first);
  const chosen = cvm.trim();
  const { computation, isReady } = overview;
  const { id, name } = computation;
  const start = useAction(async () => {
    const run = await client.startRun({ id, cvm: chosen });
    goOn(addressOf({ screen: 'run', domain, id, run }));
  });
  // The service says what would refuse a run on the chosen CVM, once the user pauses in typing.
  const check = useLoaded(`${id} ${chosen}`, async (signal) => {
    if (chosen === '' || !isReady) return [];
    await new Promise((resolve) => setTimeout(resolve, pauseInMilliseconds));
    return describeMissing((await client.dryRun({ id, cvm: chosen, signal })).missing_items);
  });
  const missing = isReady ? (check.value ?? []) : describeMissing(overview.missing);
  const sentences = missing.map(({ sentence }) => sentence);
  const lacks = isReady || missing.length > 0 ? sentences : machineLines(overview.machines ?? []);
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
      obstacle={lacks.length > 0 ? 'The service would refuse this run.' : chosen === '' ? 'Name a CVM first.' : undefined}
      onClose={onClose}
    >
      {isReady && (
        <FormField
          label="CVM"
          description="The confidential virtual machine that runs the algorithm."
          errorText={errors.at('query/cvm')}
          constraintText={exampleCvm !== undefined && simulatedText(exampleCvm, computation.attestation_policy !== null)}
        >
          <CvmInput value={cvm} onChange={setCvm} />
        </FormField>
      )}
      {lacks.length > 0 && (
        <Alert type="warning" header={isReady ? 'A run cannot start on this CVM' : 'A run cannot start yet'}>
          <Bullets className="long-words" of={lacks} />
          {isReady && computation.attestation_policy !== null && <MachineHelp />}
        </Alert>
      )}
      {activeRun !== undefined && <GoTo place={{ screen: 'run', id, run: activeRun }}>Open the conflicting run</GoTo>}
    </ConfirmModal>
  );
}

function simulatedText(example: string, hasPolicy: boolean): string {
  return hasPolicy
    ? `Simulated CVMs such as ${example} have no evidence: the policy of this computation refuses them.`
    : `Simulated CVMs answer to any name here, such as ${example}.`;
}

/** The time without typing after which the service is asked about the chosen CVM. */
const pauseInMilliseconds = 400;

/** Shows the facts of a computation and its whole configuration, of which an approval covers every part but the log level. */
function ConfigurationTab({ computation }: { computation: Schemas['Computation'] }) {
  const { id, owner, consumers, providers, created_at, updated_at } = computation;
  const { log_level, server_key } = computation.agent_config;
  const facts = [
    { label: 'Owner', value: <User of={owner} /> },
    { label: 'Identifier', value: <Hash value={id} what="identifier" isWhole /> },
    {
      label: 'Result consumers',
      value:
        consumers.length > 0 ? <Names of={consumers} as={User} /> : 'Everyone with the role result_consumer who uploads a key',
    },
    { label: 'Providers', value: providers.length > 0 ? <Names of={providers} as={User} /> : 'Everyone who provides assets' },
    { label: 'Created', value: <Moment at={created_at} /> },
    { label: 'Updated', value: <Moment at={updated_at} /> },
  ];
  const keys = new Map([
    [undefined, 'Withheld: only those who may edit the computation see it'],
    ['', 'None'],
  ]);
  const agent = [
    { label: 'Log level of the agent', value: log_level || 'Default' },
    { label: 'Private key of the agent', value: keys.get(server_key) ?? 'Set. It is shown when you edit the computation' },
  ];
  return (
    <>
      <Panel title="Summary">
        <KeyValuePairs columns={4} items={facts} />
      </Panel>
      <Panel title="Where and how it runs" description={<MachineHelp />}>
        <KeyValuePairs
          columns={2}
          items={[...factItems(describeConfiguration(configurationOfComputation(computation))), ...agent]}
        />
      </Panel>
    </>
  );
}
