import {
  Alert,
  Button,
  Checkbox,
  Container,
  ExpandableSection,
  FileInput,
  FormField,
  Input,
  Select,
} from '@cloudscape-design/components';
import { type Client, ServiceProblem } from 'computation-management-client';
import { approvalText, type JournalHead, limitsOf } from 'computation-management-formats/approval-text';
import { detailsIn } from 'computation-management-formats/bytes';
import { type Coverage, readCoverage, readJournalHead } from 'computation-management-words';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { UploadKey } from '../keys/key-dialogs.tsx';
import { NeedsPassphrase, UnusableKey } from '../keys/openssh-key.ts';
import { keepKey, keptKey, readPrivateKey, type SigningKey } from '../keys/private-key.ts';
import { loadOverview, type Overview } from '../loading/overview.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import type { Loaded } from '../loading/use-loaded.ts';
import { useGoOn } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { Hash } from '../show/hash.tsx';
import { saveFile } from '../show/save-file.ts';
import { StatusIndicator } from '../show/status.tsx';
import { Name } from '../show/visible-texts.tsx';
import { approveCommand } from './approval.ts';
import type { ChosenLimits } from './limits.tsx';
import { Refuse } from './refuse.tsx';

interface Props {
  consent: Consent;
  loaded: Loaded<Consent>;
  chosen: ChosenLimits;
}

/**
 * Shows the bar that stays in the window below a review: the limits of the approval, the key that signs it, and the buttons that approve
 * and refuse. If the manifest or the configuration has changed, the service refuses the approval: then the page shows the present ones,
 * and the user must confirm them first.
 */
export function ApproveForm({ consent, loaded, chosen }: Props) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const { overview, coverage, journal_head, uploaded } = consent;
  const { manifest, configuration, manifest_digest, configuration_digest } = coverage;
  const { id, approval: policy } = overview.computation;
  const [areLimitsOpen, setLimitsOpen] = useState(false);
  const [isOutdated, setOutdated] = useState(false);
  const [checked, setChecked] = useState<Consent>();
  const [dialog, setDialog] = useState<'key' | 'refuse'>();
  const signing = useSigning(uploaded);
  const { key, fault } = signing;
  const isShown = !loaded.isLoading && loaded.problem === undefined;
  const isChecked = !isOutdated || checked === consent;
  const mustSign = policy === 'all_signed';
  const { cvms, isOver, until, options } = chosen;
  const limits = limitsOf({ ...chosen.limits, journal_head });
  const approved = { domain, computation: id, approver: me.user, manifest_digest, configuration_digest, ...limits };
  const toComputation = addressOf({ screen: 'computation', domain, id });
  const approve = useAction(async () => {
    const signer = await signing.read();
    const text = approvalText(approved);
    const signature = await signer?.sign(text);
    const body = { digest: manifest_digest, configuration_digest, ...limits };
    try {
      await client.approve({ id, body: { ...body, ...(signature !== undefined && { signature }) } });
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.reason !== 'stale_digest') throw error;
      setOutdated(true);
      loaded.reload();
      return;
    }
    const signed = { text, signature, key: signer?.spki, fingerprint: signer?.fingerprint };
    const copy = { ...signed, manifest_digest, configuration_digest, manifest, configuration };
    const save = () => saveFile(`approval-${id}.json`, JSON.stringify(copy, null, 2));
    notify(
      signer ? (
        <div className="row">
          You have signed and approved. <Button onClick={save}>Save your signed copy</Button>
        </div>
      ) : (
        'You have approved.'
      ),
    );
    goOn(toComputation);
  });
  const choose = (file: File | undefined) => {
    approve.forget();
    void signing.choose(file);
  };
  const errors = fieldErrors(approve.problem, ['/cvm_ids', '/signature']);
  const isSigned = mustSign || signing.isWanted;
  const [obstacle] = [
    !isShown && 'The page is loading.',
    !isChecked && 'Check what has changed first.',
    isOver && 'Choose until when your approval is valid first.',
    isSigned && uploaded === undefined && 'Upload your public key first.',
    isSigned && !key && !signing.isLocked && 'Choose the private key of your public key first.',
  ].filter((reason) => reason !== false);
  return (
    <div className="decision">
      <Container disableContentPaddings>
        <form
          aria-label="Approve"
          onSubmit={(event) => {
            event.preventDefault();
            if (obstacle === undefined && !approve.isRunning) void approve.run();
          }}
        >
          <ExpandableSection
            variant="inline"
            headerText={`Limits: ${cvms === '' ? 'any CVM' : `only ${cvms}`}, ${until?.label.toLowerCase() ?? 'expired'}`}
            expanded={areLimitsOpen || isOver || errors.at('/cvm_ids') !== undefined}
            onChange={({ detail }) => setLimitsOpen(detail.expanded)}
          >
            <div className="filters">
              <FormField
                label="How long the approval is valid"
                errorText={isOver && 'Your approval has expired. Choose until when it is valid now.'}
              >
                <Select
                  selectedOption={until ?? null}
                  options={options}
                  placeholder="Choose"
                  onChange={({ detail }) => chosen.choose(detail.selectedOption.value ?? '')}
                />
              </FormField>
              <FormField
                label="Only on these CVMs (optional)"
                description="Identifiers, separated by commas. Empty: on any CVM."
                errorText={errors.at('/cvm_ids')}
              >
                <Input
                  value={cvms}
                  onChange={({ detail }) => chosen.type(detail.value)}
                  onKeyDown={(event) => event.detail.key === 'Enter' && event.preventDefault()}
                />
              </FormField>
            </div>
            <div>
              Or approve exactly this, signed, with the command line:{' '}
              <Hash value={approveCommand(approved)} what="command" isWhole />
            </div>
          </ExpandableSection>
          {isOutdated && isShown && (
            <div role="alert">
              <Alert type="warning" header="The computation has changed">
                Nothing was approved. This page shows the manifest and the configuration as they are now: check them, then
                approve.
                <Checkbox checked={isChecked} onChange={({ detail }) => setChecked(detail.checked ? consent : undefined)}>
                  I have checked what this page shows now
                </Checkbox>
              </Alert>
            </div>
          )}
          <ProblemAlert problem={fault === undefined ? approve.problem : undefined} fields={errors.fields} />
          <div className="decide">
            <FormField
              label={mustSign ? 'Signing key' : 'Signing key (optional)'}
              errorText={fault ?? errors.at('/signature')}
              stretch
              constraintText={key ? undefined : 'It signs in this page, and never leaves your machine.'}
            >
              <div className="row">
                {key ? (
                  <StatusIndicator type="success">
                    <span className="hash">{key.fingerprint}</span>, the key that you uploaded
                  </StatusIndicator>
                ) : uploaded === undefined ? (
                  'You have uploaded no public key here.'
                ) : (
                  <FileInput ariaLabel="Choose the signing key" value={[]} onChange={({ detail }) => choose(detail.value[0])}>
                    Choose key file
                  </FileInput>
                )}
                {signing.file && !key && <Name of={signing.file.name} />}
                {signing.isWanted && !mustSign && (
                  <Button formAction="none" variant="inline-link" onClick={() => choose(undefined)}>
                    Approve without a signature
                  </Button>
                )}
                {(uploaded === undefined || (fault !== undefined && !signing.isLocked)) && (
                  <Button formAction="none" variant="inline-link" onClick={() => setDialog('key')}>
                    {uploaded === undefined ? 'Upload your public key' : 'Replace your key'}
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
            <div className="row">
              <Button
                variant="primary"
                loading={approve.isRunning}
                disabled={obstacle !== undefined}
                {...(obstacle !== undefined && { disabledReason: obstacle })}
              >
                {isSigned ? 'Sign and approve' : 'Approve'}
              </Button>
              <Button formAction="none" onClick={() => setDialog('refuse')}>
                Refuse
              </Button>
            </div>
          </div>
        </form>
      </Container>
      {dialog === 'refuse' && <Refuse id={id} onClose={() => setDialog(undefined)} onRefused={() => goOn(toComputation)} />}
      {dialog === 'key' && (
        <UploadKey
          id={id}
          onClose={() => setDialog(undefined)}
          onUploaded={() => {
            setDialog(undefined);
            signing.forget();
            loaded.reload();
          }}
        />
      )}
    </div>
  );
}

/**
 * Keeps the private key with which the user signs an approval. A chosen file is read at once, and its key compared with the uploaded one
 * before anything is sent. The key is kept in the tab, for the next approval.
 * @param uploaded the fingerprint of the key that the user uploaded to the computation
 */
function useSigning(uploaded: string | undefined) {
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
      throw new UnusableKey(`This key is ${found.fingerprint}. You uploaded ${uploaded}. Choose that one, or replace your key.`);
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
    key,
    file,
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

/** The data that a user looks at before approving a computation. */
export interface Consent {
  overview: Overview;
  coverage: Coverage;
  /** The newest event of the journal when the page was loaded: the history that the user saw. */
  journal_head: JournalHead | undefined;
  /** The fingerprint of the key that the user uploaded to the computation. */
  uploaded: string | undefined;
}

/**
 * Reads the data that a user looks at before approving a computation.
 * @throws ContradictionError; ServiceProblem, also while there is no manifest
 */
export async function loadConsent(client: Client, user: string, id: string, signal: AbortSignal): Promise<Consent> {
  const journal_head = await readJournalHead(client, id, signal);
  const [overview, { events }] = await Promise.all([
    loadOverview(client, id, signal),
    client.listEvents({ id, event_type: 'key_uploaded', originator: user, limit: 1, signal }),
  ]);
  const uploaded = overview.hasMyKey ? detailsIn(events[0]?.details ?? '')['fingerprint'] : undefined;
  return {
    overview,
    coverage: await readCoverage(client, { id, computation: overview.computation, signal }),
    journal_head,
    uploaded: typeof uploaded === 'string' ? uploaded : undefined,
  };
}
