import type { Schemas } from 'computation-management-client';
import { type ReactNode, useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { Refused } from '../access/refused.tsx';
import { Panel, ScreenFrame } from '../frame/screen-frame.tsx';
import { loadComputation, type LoadedComputation } from '../loading/overview.ts';
import { LoadedView, ProblemAlert, ReadAgain } from '../loading/problem-alert.tsx';
import { type Action, keysForBodies, useAction } from '../loading/use-action.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { useAddress, useGoOn } from '../routing/navigation.ts';
import { aboveComputation, aboveInComputation, addressOf } from '../routing/places.ts';
import {
  Button,
  ExpandableSection,
  Form,
  FormField,
  Input,
  RadioGroup,
  Select,
  SpaceBetween,
  Textarea,
  Toggle,
} from '@cloudscape-design/components';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { approvalTexts } from 'computation-management-words';
import { alreadySent } from '../frame/confirm-modal.tsx';
import { fieldErrors, type FieldErrors } from '../loading/problem-text.ts';
import { useUnsavedWork } from '../routing/unsaved-work.ts';
import { namesIn } from '../show/texts.ts';
import { pemNote } from './form-notes.ts';
import { MachineFields, policyFields } from './machine-fields.tsx';
import { UserField, useSeen } from './user-field.tsx';

/** Shows the screen that creates a computation. */
export function NewComputationScreen() {
  const { domain, me } = useDomain();
  return (
    <ScreenFrame title="Create computation" above={aboveComputation(domain)}>
      {permissions.createComputation(me) ? <NewForm /> : <Refused what="create computations" actions={['create_computation']} />}
    </ScreenFrame>
  );
}

function NewForm() {
  const from = useAddress().query.get('from');
  const { client } = useDomain();
  const copied = useLoaded(from ?? '', async (signal) =>
    from === null ? null : (await loadComputation(client, from, signal)).computation,
  );
  return (
    <LoadedView loaded={copied} what="the computation to duplicate">
      {(computation) => <FilledForm computation={computation} />}
    </LoadedView>
  );
}

/**
 * Shows the form of a new computation.
 * @param computation the one to duplicate, with its inputs and its settings except for a private key. null: the form is empty
 */
function FilledForm({ computation }: { computation: Schemas['Computation'] | null }) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const [keyFor] = useState(keysForBodies);
  const [initial] = useState(() => (computation === null ? newFields(me.user) : copyOf(computation, me.user)));
  const save = useAction(async (fields: ComputationFields) => {
    const { id, name } = await client.createComputation({ body: fields, idempotencyKey: keyFor(fields) });
    for (const asset of computation?.assets ?? []) await client.linkAsset({ id: asset.id, computationID: id });
    notify(
      `${name} is created. ${computation === null ? 'Link an algorithm and datasets next.' : 'Its inputs are linked. Keys and approvals are given anew.'}`,
    );
    goOn(addressOf({ screen: 'computation', domain, id }), { replace: true });
  });
  return (
    <ComputationForm
      isNew
      initial={initial}
      submit="Create computation"
      save={save}
      cancelAddress={addressOf({ screen: 'computations', domain })}
    />
  );
}

/** Shows the screen that changes a computation. Saves nothing if someone else has changed the computation since it was read. */
export function EditComputationScreen({ id }: { id: string }) {
  const { client, domain } = useDomain();
  const [reading, setReading] = useState(0);
  const loaded = useLoaded(`${id} ${reading}`, (signal) => loadComputation(client, id, signal));
  const title = loaded.value?.computation.name ?? 'Computation';
  return (
    <ScreenFrame title={`Edit ${title}`} above={aboveInComputation(domain, id, title)}>
      <LoadedView loaded={loaded} what="the computation">
        {(read) => <EditForm key={reading} read={read} readAgain={() => setReading(reading + 1)} />}
      </LoadedView>
    </ScreenFrame>
  );
}

function EditForm({ read: { computation, etag }, readAgain }: { read: LoadedComputation; readAgain: () => void }) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const { id, name } = computation;
  const address = addressOf({ screen: 'computation', domain, id });
  const save = useAction(async (fields: ComputationFields) => {
    await client.updateComputation({ id, ifMatch: etag, body: fields });
    notify('The changes are saved.');
    goOn(address, { replace: true });
  });
  if (!permissions.editComputation(me, computation)) {
    return <Refused what="edit this computation" actions={['edit']} or="being its owner" />;
  }
  return (
    <ComputationForm
      isNew={false}
      initial={fieldsOf(computation)}
      submit="Save changes"
      save={save}
      cancelAddress={address}
      conflict={
        <ReadAgain problem={save.problem} readAgain={readAgain}>
          Nothing was saved. Reading {name} again shows the changes of others, and drops yours.
        </ReadAgain>
      }
    />
  );
}

interface FormProps {
  initial: ComputationFields;
  /** The text of the button that submits the form. */
  submit: string;
  save: Action<[ComputationFields]>;
  cancelAddress: string;
  /** The content above the buttons of the form, such as a way to solve a conflict. */
  conflict?: ReactNode;
  isNew: boolean;
}

/** Shows the form of a computation: of a new one, or of one that is changed. */
export function ComputationForm({ initial, submit, save, cancelAddress, conflict, isNew }: FormProps) {
  const { me } = useDomain();
  const [fields, setFields] = useState(initial);
  const [users, setUsers] = useState({ consumers: initial.consumers.join('\n'), providers: initial.providers.join('\n') });
  const [isDirty, setDirty] = useState(false);
  useUnsavedWork(isDirty ? 'form' : undefined);
  const change = (changed: Partial<ComputationFields>) => {
    setDirty(true);
    setFields((before) => ({ ...before, ...changed }));
  };
  const policies = approvalPolicies.slice(isNew ? 0 : approvalPolicies.indexOf(initial.approval));
  const errors = fieldErrors(save.problem, shownFields);
  const seen = useSeen();
  const publishesKey = publishedKeys(fields.agent_config).length > 0;

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save.run({ ...fields, consumers: namesIn(users.consumers), providers: namesIn(users.providers) });
      }}
    >
      <Form
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" formAction="none" href={cancelAddress} disabled={save.isRunning} disabledReason={alreadySent}>
              Cancel
            </Button>
            <Button
              variant="primary"
              formAction="submit"
              loading={save.isRunning}
              disabled={fields.name.trim() === '' || publishesKey}
            >
              {submit}
            </Button>
          </SpaceBetween>
        }
      >
        <SpaceBetween size="l">
          <Panel title="Computation">
            <SpaceBetween size="l">
              <FormField label="Name" errorText={errors.at('/name')}>
                <Input value={fields.name} ariaRequired onChange={({ detail }) => change({ name: detail.value })} />
              </FormField>
              <FormField label="Description (optional)" errorText={errors.at('/description')}>
                <Textarea value={fields.description} rows={3} onChange={({ detail }) => change({ description: detail.value })} />
              </FormField>
              <FormField
                label="Owner"
                description="The owner may start and stop runs, and always gets the results."
                constraintText={!permissions.changeOwner(me) && 'Only an administrator may name another owner.'}
                errorText={errors.at('/owner')}
              >
                <Input
                  value={fields.owner}
                  disabled={!permissions.changeOwner(me)}
                  onChange={({ detail }) => change({ owner: detail.value })}
                />
              </FormField>
            </SpaceBetween>
          </Panel>
          <Panel title="Approval and results">
            <SpaceBetween size="l">
              <FormField
                label="Approval before a run"
                description="The parties approve one manifest. You can raise this level later, but not lower it."
                errorText={errors.at('/approval')}
              >
                <Select
                  selectedOption={{ value: fields.approval, label: approvalTexts[fields.approval] }}
                  options={policies.map((value) => ({ value, label: approvalTexts[value] }))}
                  onChange={({ detail }) =>
                    change({ approval: policies.find((policy) => policy === detail.selectedOption.value) ?? fields.approval })
                  }
                />
              </FormField>
              {userFields.map(({ name, label, description }) => (
                <UserField
                  key={name}
                  label={label}
                  description={description}
                  value={users[name]}
                  seen={seen}
                  error={errors.at(`/${name}`)}
                  onChange={(value) => {
                    setDirty(true);
                    setUsers((before) => ({ ...before, [name]: value }));
                  }}
                />
              ))}
              <FormField
                label="Who reads the logs of a run"
                description="An algorithm can write any data into its logs. A change holds for the next run, and approvals become stale."
                errorText={errors.at('/log_access')}
              >
                <RadioGroup
                  value={fields.log_access}
                  items={[
                    { value: 'none', label: 'Nobody' },
                    { value: 'parties', label: 'All parties' },
                  ]}
                  onChange={({ detail }) => change({ log_access: detail.value === 'parties' ? 'parties' : 'none' })}
                />
              </FormField>
            </SpaceBetween>
          </Panel>
          <MachineFields
            policy={fields.attestation_policy}
            onChange={(attestation_policy) => change({ attestation_policy })}
            errors={errors}
          />
          <AgentFields fields={fields} change={change} errors={errors} />
          <ProblemAlert problem={save.problem} fields={errors.fields} />
          {conflict}
        </SpaceBetween>
      </Form>
    </form>
  );
}

interface AgentProps {
  fields: ComputationFields;
  change: (changed: Partial<ComputationFields>) => void;
  errors: FieldErrors<(typeof shownFields)[number]>;
}

const userFields = [
  {
    name: 'consumers',
    label: 'Result consumers (optional)',
    description:
      'Only these users and the owner get the results. One user on each line. Empty: everyone with the role result_consumer who uploads a key.',
  },
  {
    name: 'providers',
    label: 'Providers (optional)',
    description:
      'Only these users, the owner and administrators may link their own assets. One user on each line. Empty: everyone who provides assets.',
  },
] as const;

const logLevels = ['', 'debug', 'info', 'warn', 'error'] as const;

const pemFields = [
  ['cert_file', 'Certificate'],
  ['server_key', 'Private key of the certificate'],
  ['server_ca_file', 'CA of the server'],
  ['client_ca_file', 'CA of the clients'],
] as const;

/** The places in a request for a computation whose errors are shown at a field of the form. */
const shownFields = [
  '/name',
  '/description',
  '/owner',
  '/approval',
  '/log_access',
  ...policyFields,
  ...userFields.map(({ name }) => `/${name}` as const),
  '/agent_config/log_level',
  ...pemFields.map(([name]) => `/agent_config/${name}` as const),
] as const;

/**
 * Returns the names of the fields of an agent's configuration with a private key that every viewer would read, such as a PEM file that has
 * the certificate and its key.
 */
function publishedKeys(config: ComputationFields['agent_config']): string[] {
  return pemFields.map(([name]) => name).filter((name) => name !== 'server_key' && holdsPrivateKey(config[name]));
}

function AgentFields({ fields: { agent_config }, change, errors }: AgentProps) {
  const published = publishedKeys(agent_config);
  const [isOpen, setOpen] = useState(published.length > 0);
  const hasError = shownFields.some((field) => field.startsWith('/agent_config/') && errors.at(field) !== undefined);
  const [hadError, setHadError] = useState(hasError);
  if (hasError !== hadError) {
    setHadError(hasError);
    if (hasError) setOpen(true); // once: the user may close it again
  }
  const set = (changed: Partial<ComputationFields['agent_config']>) => change({ agent_config: { ...agent_config, ...changed } });
  return (
    <ExpandableSection
      variant="container"
      headerText="Agent"
      headerDescription="How the agent in the CVM is started."
      expanded={isOpen}
      onChange={({ detail }) => setOpen(detail.expanded)}
    >
      <SpaceBetween size="l">
        <FormField label="Log level" errorText={errors.at('/agent_config/log_level')}>
          <Select
            selectedOption={{ value: agent_config.log_level, label: agent_config.log_level || 'Default' }}
            options={logLevels.map((value) => ({ value, label: value || 'Default' }))}
            onChange={({ detail }) => set({ log_level: logLevels.find((level) => level === detail.selectedOption.value) ?? '' })}
          />
        </FormField>
        <Toggle checked={agent_config.attested_tls} onChange={({ detail }) => set({ attested_tls: detail.checked })}>
          Attested TLS
        </Toggle>
        {pemFields.map(([name, label]) => (
          <FormField
            key={name}
            label={`${label} (optional)`}
            description="PEM, or a path inside the CVM."
            warningText={pemNote(agent_config[name], name === 'server_key' ? 'private key' : 'certificate')}
            errorText={
              published.includes(name)
                ? 'This contains a private key, which every viewer would see. Put the key in its own field only.'
                : errors.at(`/agent_config/${name}`)
            }
          >
            <Textarea
              value={agent_config[name]}
              rows={3}
              spellcheck={false}
              autoComplete={false}
              onChange={({ detail }) => set({ [name]: detail.value })}
            />
          </FormField>
        ))}
      </SpaceBetween>
    </ExpandableSection>
  );
}

type AgentConfig = Required<Schemas['AgentConfigInput']>;

/**
 * The fields of a computation that its form edits. Fields that the form does not show are kept, because replacing a computation resets the
 * fields that are left out.
 */
export type ComputationFields = Given &
  Required<Pick<Given, Shown>> & { agent_config: AgentConfig; attestation_policy: Schemas['AttestationPolicy'] | null };
type Given = Schemas['ComputationInput'];
type Shown = 'description' | 'owner' | 'approval' | 'consumers' | 'providers' | 'log_access';

const noConfiguration: AgentConfig = {
  log_level: '',
  cert_file: '',
  server_key: '',
  server_ca_file: '',
  client_ca_file: '',
  attested_tls: false,
};

export function newFields(owner: string): ComputationFields {
  return {
    name: '',
    description: '',
    owner,
    approval: 'none',
    consumers: [],
    providers: [],
    attestation_policy: null,
    log_access: 'none',
    agent_config: noConfiguration,
  };
}

export function fieldsOf(computation: Schemas['Computation']): ComputationFields {
  const { id: _, status: _1, created_at: _2, updated_at: _3, assets: _4, run: _5, parties: _6, ...given } = computation;
  return { ...given, agent_config: { ...noConfiguration, ...given.agent_config } };
}

/**
 * Returns the fields of a duplicate of a computation. The duplicate belongs to the user who makes it, and has no private key of the agent.
 */
export function copyOf(computation: Schemas['Computation'], owner: string): ComputationFields {
  const fields = fieldsOf(computation);
  const name = `Copy of ${computation.name}`.slice(0, 200);
  return { ...fields, name, owner, agent_config: { ...fields.agent_config, server_key: '' } };
}

/** The levels of approval in the order in which a computation may raise its level. A level is never lowered. */
const approvalPolicies = ['none', 'all', 'all_signed'] as const;
