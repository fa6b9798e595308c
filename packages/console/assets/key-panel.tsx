import { Button, FileInput, FormField, KeyValuePairs } from '@cloudscape-design/components';
import type { KnownAsset, Schemas } from 'computation-management-client';
import { hasKeyHere, keyHolders, policyLines } from 'computation-management-words';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { MachineFields, policyFields } from '../policies/machine-fields.tsx';
import { Choice, ConfirmModal, type DialogProps, FormFrame, Panel, TextField, useAsked } from '../frame/index.ts';
import { fieldErrors, LoadedView, nullIfAbsent, useChange, useLoaded } from '../loading/index.ts';
import { useUnsavedWork } from '../routing/index.ts';
import { Hash, Lines, Moment, Name, StatusIndicator } from '../show/index.ts';
import { type FileKey, readFileKey } from './file-key.ts';

type Key = Schemas['AssetKey'];

/**
 * Shows the creator of an asset the key of its file: who holds it, which machines get it and how often it left. Sets and removes it.
 * @param reload loads the asset again, which the first key changes
 */
export function KeyPanel({ asset, reload }: { asset: KnownAsset['asset']; reload: () => void }) {
  const { client } = useDomain();
  const { id } = asset;
  const loaded = useLoaded(`${id} ${asset.updated_at}`, async (signal) =>
    hasKeyHere(asset) ? await client.getAssetKey({ id, signal }).catch(nullIfAbsent) : null,
  );
  const { asked, setAsked, dialog } = useAsked<'set' | 'remove'>(() => {
    loaded.reload();
    reload();
  });
  const key = loaded.value;
  const remove = useChange(() => client.removeAssetKey({ id }), 'The asset has no key now.', dialog.onDone);
  return (
    <>
      <Panel
        title="Key of the file"
        description="It opens the encrypted file. The machine of a run gets it once approvals, policies and machine agree."
        actions={
          <div className="row">
            {key && <Button onClick={() => setAsked('remove')}>Remove key</Button>}
            {asked !== 'set' && loaded.value !== undefined && (
              <Button onClick={() => setAsked('set')}>{key ? 'Change key' : 'Give it a key'}</Button>
            )}
          </div>
        }
      >
        <LoadedView loaded={loaded} what="the key">
          {(found) => <KeyFacts of={found} />}
        </LoadedView>
      </Panel>
      {asked === 'set' && <KeyForm asset={asset} before={key ?? null} {...dialog} />}
      {asked === 'remove' && (
        <ConfirmModal title="Remove the key of the file" confirm="Remove" action={remove} onClose={dialog.onClose}>
          No later run starts with this file until it has a key again. An active run keeps its key.
          {key?.held === 'party' && ' Where cms broker runs, remove it also with cms asset key remove.'}
        </ConfirmModal>
      )}
    </>
  );
}

function KeyFacts({ of }: { of: Key | null }) {
  if (of === null) return <StatusIndicator type="info">It has no key here.</StatusIndicator>;
  const { number, held, fingerprint, release_policy, releases, last_released_at } = of;
  return (
    <KeyValuePairs
      columns={2}
      items={[
        { label: 'Who can open it', value: keyHolders[held] },
        {
          label: `SHA-256 of the key, number ${number}`,
          value: <Hash value={fingerprint} what="fingerprint of the key" isWhole />,
        },
        {
          label: 'Machines that may get it',
          value: release_policy ? (
            <Lines of={['Those of this policy and that of the computation:', ...policyLines(release_policy)]} />
          ) : (
            'Those of the policy of the computation'
          ),
        },
        {
          label: 'Released',
          value: (
            <>
              {releases === 1 ? 'Once' : releases === 0 ? 'Never' : `${releases} times`}
              {last_released_at !== null && <Moment at={last_released_at} />}
            </>
          ),
        },
      ]}
    />
  );
}

const holders = [
  {
    value: 'party',
    label: 'I hold it',
    description: 'Only its fingerprint is sent. cms broker releases it from your machine, after cms asset key set there.',
  },
  {
    value: 'service',
    label: 'The service holds it',
    description: 'The key is sent and kept sealed. The operator of this service can open the file.',
  },
] as const;

type FormProps = DialogProps & { asset: KnownAsset['asset']; before: Key | null };

/** Shows the form that gives an asset a key. A key that the user holds is hashed here, and is not sent. */
function KeyForm({ asset: { id, file_name }, before, onClose, onDone }: FormProps) {
  const { client } = useDomain();
  const [held, setHeld] = useState<Key['held']>(before?.held ?? 'party');
  const [chosen, setChosen] = useState<{ name: string; read: FileKey | string }>();
  const [typed, setTyped] = useState(before?.fingerprint ?? '');
  const [policy, setPolicy] = useState(before?.release_policy ?? null);
  useUnsavedWork('form');
  const key = typeof chosen?.read === 'object' ? chosen.read : undefined;
  const fingerprint = key?.fingerprint ?? typed.trim().toLowerCase();
  const given = held === 'party' ? { held, fingerprint } : { held, key: key?.base64 ?? '' };
  const body = { ...given, release_policy: policy };
  const set = useChange(() => client.setAssetKey({ id, body }), `${file_name} has its key.`, onDone);
  const errors = fieldErrors(set.problem, ['/key', '/fingerprint', ...releaseFields]);
  return (
    <FormFrame
      label="Key of the file"
      submit="Set key"
      action={set}
      isComplete={held === 'party' ? fingerprint !== '' : key !== undefined}
      cancel={onClose}
      fields={errors.fields}
    >
      <Panel
        title={before ? 'Change the key' : 'Give it a key'}
        description={before ? undefined : 'The first key changes the manifest: approvals that were given become stale.'}
      >
        <Choice label="Who holds it" value={held} options={holders} onChange={setHeld} />
        <FormField
          label="File of the key"
          description="As cms encrypt writes it."
          errorText={typeof chosen?.read === 'string' ? chosen.read : errors.at('/key')}
          constraintText={key && `SHA-256 ${key.fingerprint}`}
        >
          <div className="row">
            <FileInput
              ariaLabel="Choose the file of the key"
              value={[]}
              onChange={({ detail: { value } }) =>
                void (value[0] && readFileKey(value[0]).then((read) => setChosen({ name: value[0]?.name ?? '', read })))
              }
            >
              Choose key file
            </FileInput>
            {chosen && <Name of={chosen.name} />}
          </div>
        </FormField>
        {held === 'party' && !key && (
          <TextField
            label="Or its fingerprint"
            description="The SHA-256 of the key, 64 hex digits."
            errorText={errors.at('/fingerprint')}
            spellcheck={false}
            text={[typed, setTyped]}
          />
        )}
      </Panel>
      <MachineFields
        subject="key"
        policy={policy}
        onChange={setPolicy}
        errors={{ at: (place) => errors.at(releaseFieldOf(place)) }}
      />
    </FormFrame>
  );
}

type PolicyField = (typeof policyFields)[number];
const releaseFieldOf = (place: PolicyField) =>
  place.replace('attestation_policy', 'release_policy') as `/release_policy/${string}`;
const releaseFields = policyFields.map(releaseFieldOf);
