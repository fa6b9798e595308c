import type { Schemas } from 'computation-management-client';
import { type ReactNode, useState } from 'react';
import { permissions, Refused, useDomain, useFrame } from '../access/index.ts';
import { Choice, FormFrame, Panel, ScreenFrame, TextField } from '../frame/index.ts';
import { type Action, fieldErrors, type FieldErrors, keysForBodies, loadComputation } from '../loading/index.ts';
import { LoadedView, type Overview, ReadAgain, useAction, useLoaded } from '../loading/index.ts';
import { aboveComputation, aboveInComputation, addressOf, useAddress, useGoOn, useUnsavedWork } from '../routing/index.ts';
import { ExpandableSection, SpaceBetween, Toggle } from '@cloudscape-design/components';
import { approvalLevels, logLevels } from 'computation-management-formats/vocabulary';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { approvalTexts } from 'computation-management-words';
import { pemNote } from './form-notes.ts';
import { MachineFields, policyFields } from '../policies/machine-fields.tsx';
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

/** Shows the form of a new computation, which the address may tell to begin as a duplicate: with inputs and settings, without private keys. */
function NewForm() {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const from = useAddress().query.get('from');
  const [keyFor] = useState(keysForBodies);
  const original = useLoaded(from ?? '', async (signal) =>
    from === null ? null : (await loadComputation(client, from, signal)).computation,
  );
  const save = useAction(async (fields: ComputationFields) => {
    const { id, name } = await client.createComputation({ body: fields, idempotencyKey: keyFor(fields) });
    for (const asset of original.value?.assets ?? []) await client.linkAsset({ id: asset.id, computationID: id });
    notify(
      `${name} is created. ${from === null ? 'Link an algorithm and datasets next.' : 'Its inputs are linked. Keys and approvals are given anew.'}`,
    );
    goOn(addressOf({ screen: 'computation', domain, id }), { replace: true });
  });
  return (
    <LoadedView loaded={original} what="the computation to duplicate">
      {(computation) => (
        <ComputationForm
          isNew
          initial={computation === null ? newFields(me.user) : copyOf(computation, me.user)}
          save={save}
          cancelAddress={addressOf({ screen: 'computations', domain })}
        />
      )}
    </LoadedView>
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
        {(read) => <EditForm key={reading} {...read} readAgain={() => setReading(reading + 1)} />}
      </LoadedView>
    </ScreenFrame>
  );
}

function EditForm({ computation, etag, readAgain }: Pick<Overview, 'computation' | 'etag'> & { readAgain: () => void }) {
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
      save={save}
      cancelAddress={address}
      conflict={<ReadAgain problem={save.problem} readAgain={readAgain} name={name} />}
    />
  );
}

interface FormProps {
  initial: ComputationFields;
  save: Action<[ComputationFields]>;
  cancelAddress: string;
  /** The content above the buttons of the form, such as a way to solve a conflict. */
  conflict?: ReactNode;
  isNew: boolean;
}

/** Shows the form of a computation: of a new one, or of one that is changed. */
function ComputationForm({ initial, save, cancelAddress, conflict, isNew }: FormProps) {
  const { me } = useDomain();
  const [fields, setFields] = useState(initial);
  // Kept beside the review, which is null while the field of its reviewers is empty.
  const [needed, setNeeded] = useState(initial.result_review?.needed ?? 1);
  const [isDirty, setDirty] = useState(false);
  useUnsavedWork(isDirty ? 'form' : undefined);
  const change = (changed: Partial<ComputationFields>) => {
    setDirty(true);
    setFields((before) => ({ ...before, ...changed }));
  };
  const levels = approvalLevels.slice(isNew ? 0 : approvalLevels.indexOf(initial.approval));
  const { reviewers = [] } = fields.result_review ?? {};
  const users = { consumers: fields.consumers, reviewers, providers: fields.providers };
  const errors = fieldErrors(save.problem, shownFields);
  const seen = useSeen();
  const textOf = (name: 'name' | 'description' | 'owner') => ({
    text: [fields[name], (text: string) => change({ [name]: text })] as const,
    errorText: errors.at(`/${name}`),
  });

  return (
    <FormFrame
      submit={isNew ? 'Create computation' : 'Save changes'}
      action={{ ...save, run: () => save.run(fields) }}
      isComplete={fields.name.trim() !== '' && publishedKeys(fields.agent_config).length === 0}
      cancel={cancelAddress}
      fields={errors.fields}
    >
      <Panel title="Computation">
        <TextField label="Name" ariaRequired {...textOf('name')} />
        <TextField label="Description (optional)" rows={3} {...textOf('description')} />
        <TextField
          label="Owner"
          description="The owner may start and stop runs, and always gets the results."
          constraintText={!permissions.changeOwner(me) && 'Only an administrator may name another owner.'}
          disabled={!permissions.changeOwner(me)}
          {...textOf('owner')}
        />
      </Panel>
      <Panel title="Approval and results">
        <Choice
          isList
          label="Approval before a run"
          description="The parties approve one manifest. You can raise this level later, but not lower it."
          errorText={errors.at('/approval')}
          value={fields.approval}
          options={levels.map((value) => ({ value, label: approvalTexts[value] }))}
          onChange={(approval) => change({ approval })}
        />
        {userFields.map(({ name, label, description, place }) => (
          <UserField
            key={name}
            label={label}
            description={description}
            users={users[name]}
            seen={seen}
            error={errors.at(place)}
            onChange={(given) => {
              const review = given.length === 0 ? null : { reviewers: given, needed };
              change(name === 'reviewers' ? { result_review: review } : { [name]: given });
            }}
          />
        ))}
        {reviewers.length > 0 && (
          <Choice
            isList
            label="Releases needed"
            description="How many of the reviewers must release a result before its consumers get it."
            errorText={errors.at('/result_review/needed')}
            value={String(needed)}
            options={reviewers.map((_, index) => ({ value: `${index + 1}`, label: `${index + 1} of ${reviewers.length}` }))}
            onChange={(chosen) => {
              setNeeded(Number(chosen));
              change({ result_review: { reviewers, needed: Number(chosen) } });
            }}
          />
        )}
        <Choice
          label="Who reads the logs of a run"
          description="An algorithm can write any data into its logs. A change holds for the next run, and approvals become stale."
          errorText={errors.at('/log_access')}
          value={fields.log_access}
          options={logReaders}
          onChange={(log_access) => change({ log_access })}
        />
      </Panel>
      <MachineFields
        policy={fields.attestation_policy}
        onChange={(attestation_policy) => change({ attestation_policy })}
        errors={errors}
      />
      <AgentFields fields={fields} change={change} errors={errors} />
      {conflict}
    </FormFrame>
  );
}

const logReaders = [
  { value: 'none', label: 'Nobody' },
  { value: 'parties', label: 'All parties' },
] as const;

interface AgentProps {
  fields: ComputationFields;
  change: (changed: Partial<ComputationFields>) => void;
  errors: FieldErrors<(typeof shownFields)[number]>;
}

const userFields = [
  {
    name: 'consumers',
    place: '/consumers',
    label: 'Result consumers (optional)',
    description:
      'Only these users and the owner get the results. One user on each line. Empty: everyone with the role result_consumer who uploads a key.',
  },
  {
    name: 'reviewers',
    place: '/result_review/reviewers',
    label: 'Reviewers of results (optional)',
    description:
      'Only they fetch results from the CVM. The consumers, whom you then name, get a result after its release. One user on each line.',
  },
  {
    name: 'providers',
    place: '/providers',
    label: 'Providers (optional)',
    description:
      'Only these users, the owner and administrators may link their own assets. One user on each line. Empty: everyone who provides assets.',
  },
] as const;

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
  ...userFields.map(({ place }) => place),
  '/result_review/needed',
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
        <Choice
          isList
          label="Log level"
          errorText={errors.at('/agent_config/log_level')}
          value={agent_config.log_level}
          options={(['', ...logLevels] as const).map((value) => ({ value, label: value || 'Default' }))}
          onChange={(log_level) => set({ log_level })}
        />
        <Toggle checked={agent_config.attested_tls} onChange={({ detail }) => set({ attested_tls: detail.checked })}>
          Attested TLS
        </Toggle>
        {pemFields.map(([name, label]) => (
          <TextField
            key={name}
            label={`${label} (optional)`}
            description="PEM, or a path inside the CVM."
            warningText={pemNote(agent_config[name], name === 'server_key' ? 'private key' : 'certificate')}
            errorText={
              published.includes(name)
                ? 'This contains a private key, which every viewer would see. Put the key in its own field only.'
                : errors.at(`/agent_config/${name}`)
            }
            rows={3}
            spellcheck={false}
            autoComplete={false}
            text={[agent_config[name], (text) => set({ [name]: text })]}
          />
        ))}
      </SpaceBetween>
    </ExpandableSection>
  );
}

type AgentConfig = Required<Schemas['AgentConfigInput']>;
type ComputationFields = ReturnType<typeof fieldsOf>;

const noConfiguration: AgentConfig = {
  log_level: '',
  cert_file: '',
  server_key: '',
  server_ca_file: '',
  client_ca_file: '',
  attested_tls: false,
};

function newFields(owner: string): ComputationFields {
  return {
    name: '',
    description: '',
    owner,
    approval: 'none',
    consumers: [],
    providers: [],
    attestation_policy: null,
    log_access: 'none',
    result_review: null,
    agent_config: noConfiguration,
  };
}

/**
 * Returns the fields of a computation that its form edits. Fields that the form does not show are kept, because replacing a computation
 * resets the fields that are left out.
 */
function fieldsOf(computation: Schemas['Computation']) {
  const { id: _, status: _1, created_at: _2, updated_at: _3, assets: _4, run: _5, parties: _6, ...given } = computation;
  const agent_config: AgentConfig = { ...noConfiguration, ...given.agent_config };
  return { ...given, agent_config };
}

/**
 * Returns the fields of a duplicate of a computation. The duplicate belongs to the user who makes it, and has no private key of the agent.
 */
function copyOf(computation: Schemas['Computation'], owner: string): ComputationFields {
  const fields = fieldsOf(computation);
  const name = `Copy of ${computation.name}`.slice(0, 200);
  return { ...fields, name, owner, agent_config: { ...fields.agent_config, server_key: '' } };
}
