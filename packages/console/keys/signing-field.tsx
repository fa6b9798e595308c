import { Button, FileInput, FormField, Input } from '@cloudscape-design/components';
import { type ReactNode, useState } from 'react';
import { Name, StatusIndicator } from '../show/index.ts';
import { NeedsPassphrase, UnusableKey } from './openssh-key.ts';
import { keepKey, keptKey, readPrivateKey, type SigningKey } from './private-key.ts';

/**
 * Keeps the private key with which the user signs. A chosen file is read at once, and its key compared with the uploaded one before
 * anything is sent. The key is kept in the tab, for the next signature.
 * @param uploaded the fingerprint of the public key with which the signature is verified. Undefined: there is none
 * @param advice what a user does who has chosen another key
 */
export function useSigning(uploaded: string | undefined, advice: string) {
  const [file, setFile] = useState<File>();
  const [isDeclined, setDeclined] = useState(false);
  const [passphrase, setPassphrase] = useState('');
  const [isLocked, setLocked] = useState(false);
  const [fault, setFault] = useState<string>();
  const key = isDeclined || uploaded === undefined ? undefined : keptKey(uploaded);
  const readFile = async (chosen: File, given: string): Promise<SigningKey> => {
    setFault(undefined);
    try {
      const found = await readPrivateKey(await chosen.text(), given);
      keepKey(found);
      setLocked(false);
      if (found.fingerprint === uploaded) return found;
      throw new UnusableKey(`This key is ${found.fingerprint}. You uploaded ${uploaded}. ${advice}`);
    } catch (error) {
      setLocked(error instanceof NeedsPassphrase);
      setFault(error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
  const forget = (declined = false) => {
    setDeclined(declined);
    setFile(undefined);
    setPassphrase('');
    setLocked(false);
    setFault(undefined);
  };
  return {
    uploaded,
    key,
    file,
    /** True if `read` can return a key: one is at hand, or a file whose passphrase is typed. */
    canSign: key !== undefined || isLocked,
    isWanted: key !== undefined || file !== undefined,
    isLocked,
    passphrase,
    setPassphrase,
    fault,
    forget,
    choose: async (chosen: File | undefined) => {
      forget(chosen === undefined);
      setFile(chosen);
      if (chosen) await readFile(chosen, '').catch(() => undefined);
    },
    /** Returns the key that signs. Undefined if the user signs with none. */
    read: async () => key ?? (file && (await readFile(file, passphrase))),
  };
}

interface Props {
  signing: ReturnType<typeof useSigning>;
  isOptional: boolean;
  /** The error of the service for the signature. */
  error: string | undefined;
  /** The text in place of the field if there is no public key with which a signature would be verified. */
  none: string;
  /** The text of the button that goes on without a signature. */
  without: string;
  /** Called when the user chooses another key, or none. */
  onChoose: () => void;
  /** The content behind the chosen key, such as a button that replaces the public key. */
  children?: ReactNode;
}

/** Shows the field for the private key with which the user signs, and for its passphrase. */
export function SigningField({ signing, isOptional, error, none, without, onChoose, children }: Props) {
  const { uploaded, key, file, fault } = signing;
  const choose = (chosen: File | undefined) => {
    onChoose();
    void signing.choose(chosen);
  };
  return (
    <>
      <FormField
        label={isOptional ? 'Signing key (optional)' : 'Signing key'}
        errorText={fault ?? error}
        stretch
        constraintText={key ? undefined : 'It signs in this page, and never leaves your machine.'}
      >
        <div className="row">
          {key ? (
            <StatusIndicator type="success">
              <span className="hash">{key.fingerprint}</span>, the key that you uploaded
            </StatusIndicator>
          ) : uploaded === undefined ? (
            none
          ) : (
            <FileInput ariaLabel="Choose the signing key" value={[]} onChange={({ detail }) => choose(detail.value[0])}>
              Choose key file
            </FileInput>
          )}
          {file && !key && <Name of={file.name} />}
          {signing.isWanted && isOptional && (
            <Button formAction="none" variant="inline-link" onClick={() => choose(undefined)}>
              {without}
            </Button>
          )}
          {children}
        </div>
      </FormField>
      {signing.isLocked && (
        <FormField label="Passphrase of the key">
          <Input
            type="password"
            autoComplete={false}
            value={signing.passphrase}
            onChange={({ detail }) => signing.setPassphrase(detail.value)}
          />
        </FormField>
      )}
    </>
  );
}
