import Alert from '@cloudscape-design/components/alert';
import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import Checkbox from '@cloudscape-design/components/checkbox';
import Container from '@cloudscape-design/components/container';
import FileInput from '@cloudscape-design/components/file-input';
import FormField from '@cloudscape-design/components/form-field';
import Header from '@cloudscape-design/components/header';
import Input from '@cloudscape-design/components/input';
import Select from '@cloudscape-design/components/select';
import { ServiceProblem } from 'computation-management-client';
import { approvalText } from 'computation-management-formats/approval-text';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { fieldErrors } from '../loading/problem-text.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import type { Loaded } from '../loading/use-loaded.ts';
import { useGoOn } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { Hash } from '../show/hash.tsx';
import { serviceNow } from '../show/service-clock.ts';
import { Name } from '../show/visible-texts.tsx';
import { approveCommand, expiryAfter, limitsOf } from './approval.ts';
import type { Consent } from './consent.ts';
import { NeedsPassphrase } from './openssh-key.ts';
import { readPrivateKey, type Sign } from './private-key.ts';

const lifetimes = [
  { value: '', label: 'Until something changes' },
  { value: '1', label: 'For a day' },
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
];

/**
 * Approves the manifest and the configuration that are shown. If one of them is another by then, the service refuses, and the page shows
 * what is there now. The user must look at that first.
 */
export function ApproveForm({ consent, loaded }: { consent: Consent; loaded: Loaded<Consent> }) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const { overview, digests } = consent;
  const { id, approval: policy } = overview.computation;
  const [lifetime, setLifetime] = useState('');
  const [expiry, setExpiry] = useState<string>();
  const [cvms, setCvms] = useState('');
  const [key, setKey] = useState<File>();
  const [isOutdated, setOutdated] = useState(false);
  const [checked, setChecked] = useState<Consent>();
  const signing = useSigning(key);
  const isShown = !loaded.isLoading && loaded.problem === undefined;
  const isChecked = !isOutdated || checked === consent;
  const isSigned = policy === 'all_signed';
  const limits = limitsOf(cvms, expiry);
  const approved = { domain, computation: id, approver: me.user, ...digests, ...limits };
  const approve = useAction(async () => {
    const sign = key && (await signing.read());
    const body = { digest: digests.manifest_digest, configuration_digest: digests.configuration_digest, ...limits };
    const signature = await sign?.(approvalText(approved));
    try {
      await client.approve({ id, body: { ...body, ...(signature !== undefined && { signature }) } });
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.reason !== 'stale_digest') throw error;
      setOutdated(true);
      loaded.reload();
      return;
    }
    notify(signature === undefined ? 'You have approved.' : 'You have signed and approved.');
    goOn(addressOf({ screen: 'computation', domain, id }));
  });
  const errors = fieldErrors(approve.problem, ['/cvm_ids', '/signature']);
  const isDisabled = !isShown || !isChecked || (isSigned && !key);
  return (
    <Container header={<Header variant="h2">Approve</Header>}>
      <form
        className="stack"
        aria-label="Approve"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isDisabled && !approve.isRunning) void approve.run();
        }}
      >
        <FormField label="How long the approval is valid">
          <Select
            selectedOption={lifetimes.find(({ value }) => value === lifetime) ?? null}
            options={lifetimes}
            onChange={({ detail: { selectedOption } }) => {
              const { value = '' } = selectedOption;
              setLifetime(value);
              setExpiry(expiryAfter(value, serviceNow()));
            }}
          />
        </FormField>
        <FormField
          label="Only on these CVMs (optional)"
          description="Identifiers, separated by commas. Empty: on any CVM."
          errorText={errors.at('/cvm_ids')}
        >
          <Input
            value={cvms}
            onChange={({ detail }) => setCvms(detail.value)}
            onKeyDown={(event) => event.detail.key === 'Enter' && event.preventDefault()}
          />
        </FormField>
        <FormField
          label={isSigned ? 'Signing key' : 'Signing key (optional)'}
          description="The private key whose public key you uploaded here, of OpenSSH or PEM. It signs in this page, and never leaves your machine."
          errorText={signing.fault ?? errors.at('/signature')}
        >
          <div className="row">
            <FileInput ariaLabel="Choose the signing key" value={[]} onChange={({ detail }) => setKey(detail.value[0] ?? key)}>
              Choose key file
            </FileInput>
            {key && <Name of={key.name} />}
            {key && (
              <Button formAction="none" variant="inline-link" onClick={() => setKey(undefined)}>
                Sign with no key
              </Button>
            )}
          </div>
        </FormField>
        {signing.hasPassphrase && (
          <FormField label="Passphrase of the key">
            <Input
              type="password"
              autoComplete={false}
              value={signing.passphrase}
              onChange={({ detail }) => signing.setPassphrase(detail.value)}
            />
          </FormField>
        )}
        {isOutdated && isShown && (
          <div role="alert">
            <Alert type="warning" header="The computation has changed">
              Nothing was approved. This page shows the manifest and the configuration as they are now: check them, then approve.
              <Checkbox checked={isChecked} onChange={({ detail }) => setChecked(detail.checked ? consent : undefined)}>
                I have checked what this page shows now
              </Checkbox>
            </Alert>
          </div>
        )}
        <ProblemAlert problem={signing.fault === undefined ? approve.problem : undefined} fields={errors.fields} />
        <div className="row">
          <Button variant="primary" loading={approve.isRunning} disabled={isDisabled}>
            {key ? 'Sign and approve' : 'Approve'}
          </Button>
          <Button variant="link" formAction="none" href={addressOf({ screen: 'computation', domain, id })}>
            Cancel
          </Button>
        </div>
        <Box>
          Or approve exactly this, signed, with the command line: <Hash value={approveCommand(approved)} what="command" isWhole />
        </Box>
      </form>
    </Container>
  );
}

/** Reads the key with which the user signs, once it is needed. */
function useSigning(file: File | undefined) {
  const [passphrase, setPassphrase] = useState('');
  const [locked, setLocked] = useState<File>();
  const [fault, setFault] = useState<{ file: File; text: string }>();
  const read = async (): Promise<Sign | undefined> => {
    if (!file) return undefined;
    setFault(undefined);
    try {
      return await readPrivateKey(await file.text(), passphrase);
    } catch (error) {
      if (error instanceof NeedsPassphrase) setLocked(file);
      setFault({ file, text: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  };
  const hasPassphrase = locked !== undefined && locked === file;
  return { read, hasPassphrase, passphrase, setPassphrase, fault: fault?.file === file ? fault?.text : undefined };
}
