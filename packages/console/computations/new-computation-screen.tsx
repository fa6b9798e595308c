import { useState } from 'react';
import { permissions } from '../access/permissions.ts';
import { Refused } from '../access/refused.tsx';
import { keysForBodies } from '../loading/keys-for-bodies.ts';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { useGoOn } from '../routing/use-go-on.ts';
import { useDomain, useFrame } from '../shell/console-context.ts';
import { ScreenFrame } from '../shell/screen-frame.tsx';
import { aboveComputation } from './above.ts';
import { type ComputationFields, newFields } from './computation-fields.ts';
import { ComputationForm } from './computation-form.tsx';

/** Creates a computation. */
export function NewComputationScreen() {
  const { domain, me } = useDomain();
  return (
    <ScreenFrame title="Create computation" above={aboveComputation(domain)}>
      {permissions.createComputation(me) ? <NewForm /> : <Refused what="create computations" actions={['create_computation']} />}
    </ScreenFrame>
  );
}

function NewForm() {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const [keyFor] = useState(keysForBodies);
  const save = useAction(async (fields: ComputationFields) => {
    const { id, name } = await client.createComputation({ body: fields, idempotencyKey: keyFor(fields) });
    notify(`${name} is created. Link an algorithm and datasets next.`);
    goOn(addressOf({ screen: 'computation', domain, id }), { replace: true });
  });
  return (
    <ComputationForm
      isNew
      initial={newFields(me.user)}
      submit="Create computation"
      save={save}
      cancelAddress={addressOf({ screen: 'computations', domain })}
    />
  );
}
