import { Alert, Button, KeyValuePairs } from '@cloudscape-design/components';
import { type Client, type Schemas, wholeAnswer } from 'computation-management-client';
import { useState } from 'react';
import { permissions, useDomain, useFrame } from '../access/index.ts';
import { type Column, PagedTable, usePage } from '../lists/index.ts';
import { fieldErrors, LoadedView, nullIfAbsent, ReadAgain, refreshSeconds, useAction, useLoaded } from '../loading/index.ts';
import { addressOf, useGoOn } from '../routing/index.ts';
import { ConfirmModal, DeleteModal, GoTo, Panel, ScreenFrame, TextField, useAsked } from '../frame/index.ts';
import { Ago, Hash, Moment, Name, Term } from '../show/index.ts';
import { Fit, Presence } from './presence.tsx';
import { AttestationBadge } from '../attestation/attestation-panel.tsx';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';

type Cvm = Schemas['Cvm'];

/** Shows the list of registered CVMs, and whether each CVM is connected. */
export function CvmsScreen() {
  const { domain, me } = useDomain();
  const goOn = useGoOn();
  const [isRegistering, setRegistering] = useState(false);
  const page = usePage('listCvms', {}, { everySeconds: refreshSeconds.cvms });
  const columns: Column<Cvm>[] = [
    { header: 'CVM', isRowHeader: true, cell: ({ id }) => <GoTo place={{ screen: 'cvm', cvm: id }}>{id}</GoTo> },
    { header: 'Presence', isPrimary: true, minWidth: 150, cell: ({ presence }) => <Presence presence={presence} /> },
    { header: 'Fitness', minWidth: 170, cell: ({ presence }) => <Fit presence={presence} /> },
    { header: 'Description', cell: ({ description }) => (description === '' ? '-' : <Name of={description} />) },
    {
      header: 'Last seen',
      cell: ({ presence: { last_seen_at } }) => (last_seen_at === null ? 'Never' : <Ago at={last_seen_at} />),
    },
  ];
  return (
    <>
      <PagedTable
        title="CVMs"
        description="Registered confidential virtual machines. Runs can also use a CVM that is not registered."
        page={page}
        columns={columns}
        rowKey={({ id }) => id}
        actions={
          permissions.registerCvm(me) && (
            <Button variant="primary" onClick={() => setRegistering(true)}>
              Register CVM
            </Button>
          )
        }
        empty="No CVM is registered in this domain."
      />
      {isRegistering && (
        <RegisterCvm onClose={() => setRegistering(false)} onDone={(cvm) => goOn(addressOf({ screen: 'cvm', domain, cvm }))} />
      )}
    </>
  );
}

/** Shows a CVM: whether it is connected, and its registration. */
export function CvmScreen({ cvm }: { cvm: string }) {
  const { client, domain, me } = useDomain();
  const loaded = useLoaded(cvm, (signal) => read(client, cvm, signal), { everySeconds: refreshSeconds.cvm });
  const { asked, setAsked, dialog } = useAsked<'edit' | 'delete'>(loaded.reload);
  return (
    <ScreenFrame
      title={cvm}
      description={loaded.value?.cvm.description}
      above={[{ text: 'CVMs', href: addressOf({ screen: 'cvms', domain }) }]}
      loaded={loaded}
      actions={
        loaded.value &&
        permissions.registerCvm(me) && (
          <>
            <Button onClick={() => setAsked('delete')}>Remove</Button>
            <Button onClick={() => setAsked('edit')}>Edit</Button>
          </>
        )
      }
    >
      <LoadedView loaded={loaded} what="the CVM">
        {(found) =>
          found === null ? (
            <Alert type="info" header="This CVM is not registered">
              Runs can use it, but its presence is not known.
            </Alert>
          ) : (
            <>
              <CvmSummary {...found.cvm} />
              {asked === 'edit' && <RegisterCvm registered={found} {...dialog} />}
              {asked === 'delete' && (
                <DeleteModal
                  verb="Remove"
                  name={found.cvm.id}
                  remove={() => client.deleteCvm({ cvmID: cvm, ifMatch: found.etag })}
                  list={addressOf({ screen: 'cvms', domain })}
                  {...dialog}
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

function CvmSummary({ presence, agent_url, attestation, certificate_fingerprint, created_at, updated_at }: Cvm) {
  const versions = Object.entries(attestation?.tcb ?? {}).map(([name, value]) => `${name} ${String(value)}`);
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
        <AttestationBadge attestation={attestation} />
        {attestation?.connection === 'reconnected' && (
          <Alert type="warning">
            The connection over which the agent attested itself is gone. Ask the owner of the CVM to restart the agent, or allow
            reconnects in the policy of your computation.
          </Alert>
        )}
        <KeyValuePairs
          columns={2}
          items={[
            { label: 'Measurement', value: <Hash value={attestation?.measurement} what="measurement" isWhole /> },
            { label: 'Platform', value: attestation?.platform ?? 'Not proven' },
            { label: 'Versions', value: versions.join(', ') || 'Not proven' },
            { label: 'Verified', value: attestation === null ? 'Never' : <Moment at={attestation.verified_at} /> },
          ]}
        />
      </Panel>
    </>
  );
}

interface Props {
  /** The registered CVM that the dialog changes. Default: the dialog registers a new CVM. */
  registered?: NonNullable<Awaited<ReturnType<typeof read>>>;
  onClose: () => void;
  onDone: (cvm: string) => void;
}

/** Shows a dialog that registers a CVM, or changes its registration. */
export function RegisterCvm({ registered, onClose, onDone }: Props) {
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
    if (!registered && (await read(client, cvm.trim()))) {
      setExisting(cvm.trim());
      return;
    }
    const body = { description, ...(certificate.trim() === '' ? {} : { certificate: `${certificate.trim()}\n` }) };
    await client.registerCvm({ cvmID: cvm.trim(), body, ifMatch: etag });
    notify(`${cvm.trim()} is registered.`);
    onDone(cvm.trim());
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
          <ReadAgain problem={save.problem} readAgain={() => onDone(cvm)} name={cvm} />
        ) : (
          existing !== undefined && (
            <Alert type="warning" action={<Button href={addressOf({ screen: 'cvm', domain, cvm: existing })}>Open it</Button>}>
              {existing} is registered already.
            </Alert>
          )
        )
      }
      obstacle={cvm.trim() === '' ? 'Name the CVM first.' : isPrivate ? 'Take the private key out first.' : undefined}
      onClose={onClose}
    >
      {!registered && (
        <TextField
          label="Identifier"
          description="1 to 64 of the characters A-Z a-z 0-9 _ - . :"
          errorText={errors.at('path/cvmID')}
          ariaRequired
          text={[cvm, setCvm]}
        />
      )}
      <TextField label="Description (optional)" errorText={errors.at('/description')} text={[description, setDescription]} />
      <TextField
        label="Certificate (optional)"
        description={
          registered
            ? 'One X.509 certificate in PEM. Empty: the fingerprint stays.'
            : 'One X.509 certificate in PEM. The service keeps its fingerprint.'
        }
        errorText={isPrivate ? 'This is a private key. Paste the certificate.' : errors.at('/certificate')}
        rows={4}
        spellcheck={false}
        text={[certificate, setCertificate]}
      />
    </ConfirmModal>
  );
}

/** Reads a CVM. Returns null if nobody registered it: runs may use it all the same. */
async function read(client: Client, cvmID: string, signal?: AbortSignal) {
  const answer = await client.call('getCvm', { cvmID, signal }).then(wholeAnswer, nullIfAbsent);
  return answer && { cvm: answer.data, etag: answer.etag };
}
