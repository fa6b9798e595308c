import { Alert, Button, FormField, Input, Textarea } from '@cloudscape-design/components';
import { type Client, type Schemas, ServiceProblem } from 'computation-management-client';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { useState } from 'react';
import { fieldErrors } from '../loading/problem-text.ts';
import { ReadAgain } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { useDomain, useFrame } from '../access/console-context.ts';

interface Props {
  /** The registered CVM that the dialog changes. Default: the dialog registers a new CVM. */
  registered?: { cvm: Schemas['Cvm']; etag: string | undefined; readAgain: () => void };
  onClose: () => void;
  onSaved: (cvm: string) => void;
}

/** Shows a dialog that registers a CVM, or changes its registration. */
export function RegisterCvm({ registered, onClose, onSaved }: Props) {
  const { client, domain } = useDomain();
  const { notify } = useFrame();
  // The page behind the dialog loads again: the version to change is the one that the user sees in these fields.
  const [etag] = useState(registered?.etag);
  const [cvm, setCvm] = useState(registered?.cvm.id ?? '');
  const [description, setDescription] = useState(registered?.cvm.description ?? '');
  const [certificate, setCertificate] = useState('');
  const isPrivate = holdsPrivateKey(certificate);
  const [existing, setExisting] = useState<string>();
  const save = useAction(async () => {
    setExisting(undefined);
    if (!registered && (await isRegistered(client, cvm.trim()))) {
      setExisting(cvm.trim());
      return;
    }
    const body = { description, ...(certificate.trim() === '' ? {} : { certificate: `${certificate.trim()}\n` }) };
    await client.registerCvm({ cvmID: cvm.trim(), body, ifMatch: etag });
    notify(`${cvm.trim()} is registered.`);
    onSaved(cvm.trim());
  });
  const errors = fieldErrors(save.problem, [...(registered ? [] : ['path/cvmID' as const]), '/description', '/certificate']);
  return (
    <ConfirmModal
      title={registered ? `Edit ${cvm}` : 'Register a CVM'}
      confirm={registered ? 'Save changes' : 'Register'}
      action={save}
      fields={errors.fields}
      conflict={
        registered ? (
          <ReadAgain problem={save.problem} readAgain={registered.readAgain}>
            Nothing was saved. Reading {cvm} again shows the changes of others, and drops yours.
          </ReadAgain>
        ) : (
          existing !== undefined && (
            <Alert type="warning" action={<Button href={addressOf({ screen: 'cvm', domain, cvm: existing })}>Open it</Button>}>
              {existing} is registered already.
            </Alert>
          )
        )
      }
      isDisabled={cvm.trim() === '' || isPrivate}
      onClose={onClose}
    >
      {!registered && (
        <FormField
          label="Identifier"
          description="1 to 64 of the characters A-Z a-z 0-9 _ - . :"
          errorText={errors.at('path/cvmID')}
        >
          <Input value={cvm} ariaRequired onChange={({ detail }) => setCvm(detail.value)} />
        </FormField>
      )}
      <FormField label="Description (optional)" errorText={errors.at('/description')}>
        <Input value={description} onChange={({ detail }) => setDescription(detail.value)} />
      </FormField>
      <FormField
        label="Certificate (optional)"
        description={
          registered
            ? 'One X.509 certificate in PEM. Empty: the fingerprint stays.'
            : 'One X.509 certificate in PEM. The service keeps its fingerprint.'
        }
        errorText={isPrivate ? 'This is a private key. Paste the certificate.' : errors.at('/certificate')}
      >
        <Textarea value={certificate} rows={4} spellcheck={false} onChange={({ detail }) => setCertificate(detail.value)} />
      </FormField>
    </ConfirmModal>
  );
}

async function isRegistered(client: Client, cvmID: string): Promise<boolean> {
  try {
    await client.getCvm({ cvmID });
    return true;
  } catch (error) {
    if (error instanceof ServiceProblem && error.code === 'not_found') return false;
    throw error;
  }
}
