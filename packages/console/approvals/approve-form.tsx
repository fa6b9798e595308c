import { Alert, Box, Button, Checkbox, FileInput, FormField, Input, Select } from '@cloudscape-design/components';
import { type Client, type Schemas, ServiceProblem } from 'computation-management-client';
import { approvalText, type JournalHead, limitsOf } from 'computation-management-formats/approval-text';
import { type Coverage, readCoverage, readJournalHead } from 'computation-management-words';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { Panel } from '../frame/screen-frame.tsx';
import { loadOverview, type Overview } from '../loading/overview.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import type { Loaded } from '../loading/use-loaded.ts';
import { useGoOn } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { Hash } from '../show/hash.tsx';
import { serviceNow } from '../show/service-clock.ts';
import { momentText, namesIn } from '../show/texts.ts';
import { Name } from '../show/visible-texts.tsx';
import { approveCommand, expiryAfter } from './approval.ts';
import { NeedsPassphrase } from '../keys/openssh-key.ts';
import { readPrivateKey, type Sign } from '../keys/private-key.ts';

const lifetimes = [
  { value: '', label: 'Until something changes' },
  { value: '1', label: 'For a day' },
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
];

interface Props {
  consent: Consent;
  loaded: Loaded<Consent>;
  /** The approval that the user gave before. The limits in the form are those of the earlier approval until the user chooses others. */
  before: Schemas['Approval'] | undefined;
}

/**
 * Shows the form that approves the manifest and the configuration on the page. If one of the two has changed, the service refuses the
 * approval: then the page shows the present ones, and the user must confirm them first.
 */
export function ApproveForm({ consent, loaded, before }: Props) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const { overview, coverage, journal_head } = consent;
  const { manifest_digest, configuration_digest } = coverage;
  const { id, approval: policy } = overview.computation;
  const [chosen, setChosen] = useState<{ lifetime: string; expires_at: string | undefined }>();
  const [typed, setTyped] = useState<string>();
  const [isOutdated, setOutdated] = useState(false);
  const [checked, setChecked] = useState<Consent>();
  const signing = useSigning();
  const { key } = signing;
  const isShown = !loaded.isLoading && loaded.problem === undefined;
  const isChecked = !isOutdated || checked === consent;
  const isSigned = policy === 'all_signed';
  const cvms = typed ?? before?.cvm_ids?.join(', ') ?? '';
  const kept = before?.expires_at ?? undefined;
  const isOver = chosen === undefined && kept !== undefined && Date.parse(kept) <= serviceNow();
  const lifetime = isOver ? undefined : (chosen?.lifetime ?? (kept === undefined ? '' : 'kept'));
  const cvm_ids = namesIn(cvms);
  const expires_at = chosen ? chosen.expires_at : kept;
  const limits = limitsOf({ cvm_ids: cvm_ids.length > 0 ? cvm_ids : null, expires_at, journal_head });
  const options = [
    ...(kept === undefined || isOver ? [] : [{ value: 'kept', label: `Until ${momentText(kept)}, as before` }]),
    ...lifetimes,
  ];
  const approved = { domain, computation: id, approver: me.user, manifest_digest, configuration_digest, ...limits };
  const approve = useAction(async () => {
    const sign = await signing.read();
    const body = { digest: manifest_digest, configuration_digest, ...limits };
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
  const choose = (file: File | undefined) => {
    approve.forget();
    signing.choose(file);
  };
  const errors = fieldErrors(approve.problem, ['/cvm_ids', '/signature']);
  const isDisabled = !isShown || !isChecked || isOver || (isSigned && !key);
  return (
    <Panel title="Approve">
      <form
        className="stack"
        aria-label="Approve"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isDisabled && !approve.isRunning) void approve.run();
        }}
      >
        <FormField
          label="How long the approval is valid"
          errorText={isOver && 'Your approval has expired. Choose until when it is valid now.'}
        >
          <Select
            selectedOption={options.find(({ value }) => value === lifetime) ?? null}
            options={options}
            placeholder="Choose"
            onChange={({ detail: { selectedOption } }) => {
              const { value = '' } = selectedOption;
              setChosen(value === 'kept' ? undefined : { lifetime: value, expires_at: expiryAfter(value, serviceNow()) });
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
            onChange={({ detail }) => setTyped(detail.value)}
            onKeyDown={(event) => event.detail.key === 'Enter' && event.preventDefault()}
          />
        </FormField>
        <FormField
          label={isSigned ? 'Signing key' : 'Signing key (optional)'}
          description="The private key whose public key you uploaded here, of OpenSSH or PEM. It signs in this page, and never leaves your machine."
          errorText={signing.fault ?? errors.at('/signature')}
        >
          <div className="row">
            <FileInput ariaLabel="Choose the signing key" value={[]} onChange={({ detail }) => choose(detail.value[0] ?? key)}>
              Choose key file
            </FileInput>
            {key && <Name of={key.name} />}
            {key && (
              <Button formAction="none" variant="inline-link" onClick={() => choose(undefined)}>
                Sign with no key
              </Button>
            )}
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
    </Panel>
  );
}

/**
 * Keeps the private key with which the user signs an approval, and reads the file of the key when the user approves. Choosing another file
 * forgets the passphrase.
 */
function useSigning() {
  const [key, setKey] = useState<File>();
  const [passphrase, setPassphrase] = useState('');
  const [isLocked, setLocked] = useState(false);
  const [fault, setFault] = useState<string>();
  const choose = (file: File | undefined) => {
    setKey(file);
    setPassphrase('');
    setLocked(false);
    setFault(undefined);
  };
  const read = async (): Promise<Sign | undefined> => {
    setFault(undefined);
    try {
      return key && (await readPrivateKey(await key.text(), passphrase));
    } catch (error) {
      if (error instanceof NeedsPassphrase) setLocked(true);
      setFault(error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
  return { key, choose, read, isLocked, passphrase, setPassphrase, fault };
}

/** The data that a user looks at before approving a computation. */
export interface Consent {
  overview: Overview;
  coverage: Coverage;
  /** The newest event of the journal when the page was loaded: the history that the user saw. */
  journal_head: JournalHead | undefined;
}

/**
 * Reads the data that a user looks at before approving a computation.
 * @throws ContradictionError; ServiceProblem, also while there is no manifest
 */
export async function loadConsent(client: Client, id: string, signal: AbortSignal): Promise<Consent> {
  const journal_head = await readJournalHead(client, id, signal);
  const overview = await loadOverview(client, id, signal);
  return { overview, coverage: await readCoverage(client, { id, computation: overview.computation, signal }), journal_head };
}
