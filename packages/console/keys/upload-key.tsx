import FileInput from '@cloudscape-design/components/file-input';
import FormField from '@cloudscape-design/components/form-field';
import Textarea from '@cloudscape-design/components/textarea';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { keyToSend } from './key-to-send.ts';

interface Props {
  /** The computation. */
  id: string;
  onClose: () => void;
  onUploaded: () => void;
}

/** Uploads the user's own public key to a computation. */
export function UploadKey({ id, onClose, onUploaded }: Props) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const [key, setKey] = useState('');
  const [isPrivate, setPrivate] = useState(false);
  const upload = useAction(async () => {
    await client.uploadKey({ id, body: { key: keyToSend(key) } });
    notify('Your public key is uploaded.');
    onUploaded();
  });
  const take = (text: string) => {
    // A private key must not leave the user's machine: it does not even stay in the field.
    setPrivate(holdsPrivateKey(text));
    setKey(holdsPrivateKey(text) ? '' : text);
  };
  const errors = fieldErrors(upload.problem, ['/key']);
  return (
    <ConfirmModal
      title="Upload your public key"
      confirm="Upload"
      isRunning={upload.isRunning}
      problem={upload.problem}
      fields={errors.fields}
      isDisabled={key.trim() === ''}
      onConfirm={() => void upload.run()}
      onClose={onClose}
    >
      <FormField
        label="Public key"
        description="The line of a .pub file, or PEM. RSA, ECDSA or Ed25519."
        errorText={isPrivate ? 'This is a private key. Keep it to yourself, and use the .pub file beside it.' : errors.at('/key')}
        secondaryControl={
          <FileInput
            ariaLabel="Choose a public key file"
            value={[]}
            accept=".pub,.pem,text/plain"
            onChange={({ detail }) => void detail.value[0]?.text().then(take)}
          >
            Choose file
          </FileInput>
        }
        stretch
      >
        <Textarea
          value={key}
          rows={5}
          spellcheck={false}
          placeholder="ssh-ed25519 AAAA... alice@example.com"
          onChange={({ detail }) => take(detail.value)}
        />
      </FormField>
    </ConfirmModal>
  );
}
