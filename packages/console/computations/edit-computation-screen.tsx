import { useState } from 'react';
import { permissions } from '../access/permissions.ts';
import { Refused } from '../access/refused.tsx';
import { LoadedView } from '../loading/loaded-view.tsx';
import { ReadAgain } from '../loading/read-again.tsx';
import { useAction } from '../loading/use-action.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { useGoOn } from '../routing/use-go-on.ts';
import { useDomain, useFrame } from '../shell/console-context.ts';
import { ScreenFrame } from '../shell/screen-frame.tsx';
import { aboveComputation } from './above.ts';
import { type ComputationFields, fieldsOf } from './computation-fields.ts';
import { ComputationForm } from './computation-form.tsx';
import { loadComputation, type LoadedComputation } from './load-computation.ts';

/** Changes a computation, unless someone else has changed it since it was read. */
export function EditComputationScreen({ id }: { id: string }) {
  const { client, domain } = useDomain();
  const [reading, setReading] = useState(0);
  const loaded = useLoaded(`${id} ${reading}`, (signal) => loadComputation(client, id, signal));
  const title = loaded.value?.computation.name ?? 'Computation';
  return (
    <ScreenFrame
      title={`Edit ${title}`}
      above={[...aboveComputation(domain), { text: title, href: addressOf({ screen: 'computation', domain, id }) }]}
    >
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
