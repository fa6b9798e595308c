import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { Refused } from '../access/refused.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { loadComputation, type LoadedComputation } from '../loading/overview.ts';
import { LoadedView, ReadAgain } from '../loading/problem-alert.tsx';
import { keysForBodies, useAction } from '../loading/use-action.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { useAddress, useGoOn } from '../routing/navigation.ts';
import { aboveComputation, aboveInComputation, addressOf } from '../routing/places.ts';
import { ComputationForm, type ComputationFields, copyOf, fieldsOf, newFields } from './computation-form.tsx';

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
