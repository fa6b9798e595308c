import { Alert, Button, KeyValuePairs } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem, wholeAnswer } from 'computation-management-client';
import { useState } from 'react';
import { permissions } from '../access/permissions.ts';
import { LoadedView } from '../loading/problem-alert.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { AttestationBadge } from '../attestation/attestation-panel.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { Hash } from '../show/hash.tsx';
import { Term } from '../show/term.tsx';
import { Moment } from '../show/time.tsx';
import { Name } from '../show/visible-texts.tsx';
import { Fit, Presence } from './presence.tsx';
import { RegisterCvm } from './register-cvm.tsx';
import { Panel } from '../frame/panel.tsx';
import { DeleteModal } from '../frame/confirm-modal.tsx';

interface Read {
  cvm: Schemas['Cvm'];
  etag: string | undefined;
}

/** Shows a CVM: whether it is connected, and its registration. */
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
              {asked === 'delete' && (
                <DeleteModal
                  verb="Remove"
                  name={read.cvm.id}
                  remove={() => client.deleteCvm({ cvmID: cvm, ifMatch: read.etag })}
                  notice={`${read.cvm.id} is no longer registered.`}
                  list={addressOf({ screen: 'cvms', domain })}
                  onClose={close}
                  onReadAgain={closeAndReload}
                >
                  The service forgets its registration and presence. Its past runs stay.
                </DeleteModal>
              )}
            </>
          )
        }
      </LoadedView>
    </ScreenFrame>
  );
}

function CvmSummary({
  cvm: { presence, agent_url, attestation, certificate_fingerprint, created_at, updated_at },
}: {
  cvm: Schemas['Cvm'];
}) {
  return (
    <>
      <Panel title="Presence">
        <KeyValuePairs
          columns={4}
          items={[
            { label: 'Presence', value: <Presence presence={presence} /> },
            { label: 'Fitness', value: <Fit presence={presence} /> },
            { label: 'Agent', value: presence.agent_state === null ? 'Not reported' : <Name of={presence.agent_state} /> },
            { label: 'Last seen', value: presence.last_seen_at === null ? 'Never' : <Moment at={presence.last_seen_at} /> },
          ]}
        />
      </Panel>
      <Panel title="Registration">
        <KeyValuePairs
          columns={2}
          items={[
            { label: 'Certificate (SHA-256)', value: <Hash value={certificate_fingerprint} what="fingerprint" isWhole /> },
            { label: 'Address of its agent', value: <Hash value={agent_url} what="address" isWhole /> },
            { label: 'Registered', value: <Moment at={created_at} /> },
            { label: 'Updated', value: <Moment at={updated_at} /> },
          ]}
        />
      </Panel>
      <Panel title="Attestation" info={<Term of="attestation" />}>
        <div className="stack">
          <AttestationBadge attestation={attestation} />
          <KeyValuePairs
            columns={2}
            items={[
              { label: 'Measurement', value: <Hash value={attestation?.measurement} what="measurement" isWhole /> },
              { label: 'Verified', value: attestation === null ? 'Never' : <Moment at={attestation.verified_at} /> },
            ]}
          />
        </div>
      </Panel>
    </>
  );
}
