import { Alert, Button, Checkbox, FileInput } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { useState } from 'react';
import { permissions, useDomain, useFrame } from '../access/index.ts';
import { ConfirmModal, type DialogProps, TextField } from '../frame/index.ts';
import { fieldErrors, useAction, useChange, useLoaded } from '../loading/index.ts';
import { Hash, keyToSend, Names, saveFile } from '../show/index.ts';
import { keepKey, latestKey, makeKey } from './private-key.ts';

/**
 * Shows a dialog that uploads the user's own public key to a computation.
 * @param onDone called with the identifiers of the computations that have got the key
 */
export function UploadKey({ id, onClose, onDone }: { id: string; onClose: () => void; onDone: (ids: string[]) => void }) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const [key, setKey] = useState(latestKey()?.publicKey ?? '');
  const [savedAs, setSavedAs] = useState<string>();
  const [isPrivate, setPrivate] = useState(false);
  const [isForAll, setForAll] = useState(false);
  const todo = useLoaded('todo', (signal) => client.getTodo({ signal }));
  const others = todo.value?.keys.filter(({ computation_id }) => computation_id !== id) ?? [];
  const upload = useAction(async () => {
    const ids = [id, ...(isForAll ? others.map(({ computation_id }) => computation_id) : [])];
    for (const each of ids) await client.uploadKey({ id: each, body: { key: keyToSend(key) } });
    notify(ids.length === 1 ? 'Your public key is uploaded.' : `Your public key is uploaded to ${ids.length} computations.`);
    onDone(ids);
  });
  const take = (text: string) => {
    setSavedAs(undefined);
    // A private key must not leave the user's machine: it does not even stay in the field.
    setPrivate(holdsPrivateKey(text));
    setKey(holdsPrivateKey(text) ? '' : text);
  };
  const make = useAction(async () => {
    const { key: made, pem } = await makeKey();
    const name = `key-${made.fingerprint.replace(/\W/g, '').slice(6, 14)}.pem`;
    saveFile(name, pem, 'application/x-pem-file');
    keepKey(made);
    take(made.publicKey);
    setSavedAs(name);
  });
  const errors = fieldErrors(upload.problem, ['/key']);
  return (
    <ConfirmModal
      title="Upload your public key"
      confirm="Upload"
      action={upload}
      fields={errors.fields}
      obstacle={key.trim() === '' ? 'Give your public key first.' : undefined}
      onClose={onClose}
    >
      <TextField
        label="Public key"
        description="With its private part you fetch results from the CVM and sign approvals. The line of a .pub file, or PEM. RSA, ECDSA or Ed25519."
        errorText={isPrivate ? 'This is a private key. Keep it to yourself, and use the .pub file beside it.' : errors.at('/key')}
        stretch
        rows={5}
        spellcheck={false}
        placeholder="ssh-ed25519 AAAA... alice@example.com"
        text={[key, take]}
      />
      <div className="row">
        <FileInput
          ariaLabel="Choose a public key file"
          value={[]}
          accept=".pub,.pem,text/plain"
          onChange={({ detail }) => void detail.value[0]?.text().then(take)}
        >
          Choose file
        </FileInput>
        <Button formAction="none" loading={make.isRunning} onClick={() => void make.run()}>
          Make a key
        </Button>
      </div>
      <div role="status">
        {savedAs !== undefined && (
          <Alert type="success" header="Your key is made">
            Its private part is saved as {savedAs}. Keep this file: nobody can restore it, and whoever has it can sign as you. It
            is never sent. This tab signs with it until you reload or close the tab.
          </Alert>
        )}
        {make.problem !== undefined && (
          <Alert type="warning" header="This browser cannot make a key">
            Make one in a terminal, and choose its .pub file:{' '}
            <Hash value="ssh-keygen -t ed25519 -f computation-key" what="command" isWhole />
          </Alert>
        )}
      </div>
      {others.length > 0 && (
        <Checkbox
          checked={isForAll}
          onChange={({ detail }) => setForAll(detail.checked)}
          description={<Names of={others.map(({ name }) => name)} />}
        >
          Also give it to all other computations that wait for your key ({others.length})
        </Checkbox>
      )}
    </ConfirmModal>
  );
}

/** Shows a dialog that removes the user's own public key from a computation. The owner and administrators can name another user. */
export function RemoveKey({ computation, onClose, onDone }: DialogProps & { computation: Schemas['Computation'] }) {
  const { client, me } = useDomain();
  const [user, setUser] = useState(me.user);
  const given = { id: computation.id, ...(user !== me.user && { user }) };
  const remove = useChange(() => client.removeKey(given), 'The public key is removed.', onDone);
  const errors = fieldErrors(remove.problem, ['query/user']);
  return (
    <ConfirmModal
      title="Remove a public key"
      confirm="Remove"
      action={remove}
      fields={errors.fields}
      obstacle={user.trim() === '' ? 'Name the user first.' : undefined}
      onClose={onClose}
    >
      <TextField
        label="Whose key"
        errorText={errors.at('query/user')}
        disabled={!permissions.removeKeys(me, computation)}
        text={[user, setUser]}
      />
      An approval of this user goes with the key. An active run keeps its manifest.
    </ConfirmModal>
  );
}
