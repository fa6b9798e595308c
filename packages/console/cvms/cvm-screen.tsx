import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import Container from '@cloudscape-design/components/container';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import { type Schemas, ServiceProblem, wholeAnswer } from 'computation-management-client';
import { useState } from 'react';
import { permissions } from '../access/permissions.ts';
import { LoadedView, ReadAgain } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { useGoOn } from '../routing/navigation.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { Hash } from '../show/hash.tsx';
import { Moment } from '../show/time.tsx';
import { Fit, Presence } from './presence.tsx';
import { RegisterCvm } from './register-cvm.tsx';

interface Read {
  cvm: Schemas['Cvm'];
  etag: string | undefined;
}

/** One CVM: whether it is there, and what is registered of it. */
export function CvmScreen({ cvm }: { cvm: string }) {
  const { client, domain, me } = useDomain();
  const [asked, setAsked] = useState<'edit' | 'delete'>();
  const loaded = useLoaded(
    cvm,
    async (signal): Promise<Read | null> => {
      try {
        const { data, etag } = wholeAnswer(await client.call('getCvm', { cvmID: cvm, signal }));
        return { cvm: data, etag };
      } catch (error) {
        if (error instanceof ServiceProblem && error.code === 'not_found') return null; // runs may use CVMs that nobody registered
        throw error;
      }
    },
    { everySeconds: refreshSeconds.cvm },
  );
  const isRegistered = loaded.value != null;
  const close = () => setAsked(undefined);
  const closeAndReload = () => {
    close();
    loaded.reload();
  };
  return (
    <ScreenFrame
      title={cvm}
      description={loaded.value?.cvm.description}
      above={[{ text: 'CVMs', href: addressOf({ screen: 'cvms', domain }) }]}
      actions={
        <>
          <Button iconName="refresh" ariaLabel="Refresh" loading={loaded.isLoading} onClick={loaded.reload} />
          {isRegistered && permissions.registerCvm(me) && (
            <>
              <Button onClick={() => setAsked('delete')}>Remove</Button>
              <Button onClick={() => setAsked('edit')}>Edit</Button>
            </>
          )}
        </>
      }
    >
      <LoadedView loaded={loaded} what="the CVM">
        {(read) =>
          read === null ? (
            <Alert type="info" header="This CVM is not registered">
              Runs can use it, but its presence is not known.
            </Alert>
          ) : (
            <>
              <CvmSummary cvm={read.cvm} />
              {asked === 'edit' && (
                <RegisterCvm registered={{ ...read, readAgain: closeAndReload }} onClose={close} onSaved={closeAndReload} />
              )}
              {asked === 'delete' && <RemoveCvm read={read} onClose={close} onReadAgain={closeAndReload} />}
            </>
          )
        }
      </LoadedView>
    </ScreenFrame>
  );
}

function CvmSummary({ cvm: { presence, certificate_fingerprint, created_at, updated_at } }: { cvm: Schemas['Cvm'] }) {
  return (
    <>
      <Container header={<Header variant="h2">Presence</Header>}>
        <KeyValuePairs
          columns={4}
          items={[
            { label: 'Presence', value: <Presence presence={presence} /> },
            { label: 'Fitness', value: <Fit presence={presence} /> },
            { label: 'Agent', value: presence.agent_state ?? 'Not reported' },
            { label: 'Last seen', value: presence.last_seen_at === null ? 'Never' : <Moment at={presence.last_seen_at} /> },
          ]}
        />
      </Container>
      <Container header={<Header variant="h2">Registration</Header>}>
        <KeyValuePairs
          columns={3}
          items={[
            {
              label: 'Fingerprint of its certificate (SHA-256)',
              value: <Hash value={certificate_fingerprint} what="fingerprint" isWhole />,
            },
            { label: 'Registered', value: <Moment at={created_at} /> },
            { label: 'Updated', value: <Moment at={updated_at} /> },
          ]}
        />
      </Container>
    </>
  );
}

interface RemoveProps {
  read: Read;
  onClose: () => void;
  onReadAgain: () => void;
}

function RemoveCvm({ read, onClose, onReadAgain }: RemoveProps) {
  // The page behind the dialog loads again: the version to remove is the one that the user has seen.
  const [{ cvm, etag }] = useState(read);
  const { client, domain } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const remove = useAction(async () => {
    await client.deleteCvm({ cvmID: cvm.id, ifMatch: etag });
    notify(`${cvm.id} is no longer registered.`);
    goOn(addressOf({ screen: 'cvms', domain }));
  });
  return (
    <ConfirmModal
      title={`Remove ${cvm.id}`}
      confirm="Remove"
      isRunning={remove.isRunning}
      problem={remove.problem}
      conflict={
        <ReadAgain problem={remove.problem} readAgain={onReadAgain}>
          Nothing was removed. Reading {cvm.id} again shows the changes of others.
        </ReadAgain>
      }
      onConfirm={() => void remove.run()}
      onClose={onClose}
    >
      The service forgets its registration and presence. Its past runs stay.
    </ConfirmModal>
  );
}
