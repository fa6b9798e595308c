import { Alert, Button, Checkbox, Container, ExpandableSection, type InputProps } from '@cloudscape-design/components';
import { type Client, ServiceProblem } from 'computation-management-client';
import { approvalText, limitsOf } from 'computation-management-formats/consent';
import { detailsIn } from 'computation-management-formats/bytes';
import { readCoverage, readJournalHead } from 'computation-management-words';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/index.ts';
import { Choice, TextField } from '../frame/index.ts';
import { UploadKey } from '../keys/key-dialogs.tsx';
import { SigningField, useSigning } from '../keys/signing-field.tsx';
import { fieldErrors, type Loaded, loadOverview, ProblemAlert, useAction } from '../loading/index.ts';
import { useGoOn } from '../routing/index.ts';
import { Hash, saveFile } from '../show/index.ts';
import { approveCommand, newUuid } from './approval.ts';
import type { ChosenLimits } from './limits.tsx';

interface Props {
  consent: Consent;
  loaded: Loaded<Consent>;
  chosen: ChosenLimits;
  /** The address that the user goes to after the approval. */
  afterwards: string;
  onRefuse: () => void;
}

/**
 * Shows the bar that stays in the window below a review: the limits of the approval, the key that signs it, and the buttons that approve
 * and refuse. If the manifest or the configuration has changed, the service refuses the approval: then the page shows the present ones,
 * and the user must confirm them first.
 */
export function ApproveForm({ consent, loaded, chosen, afterwards, onRefuse }: Props) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const { overview, coverage, journal_head, uploaded } = consent;
  const { manifest, configuration, manifest_digest, configuration_digest } = coverage;
  const { id, approval: policy } = overview.computation;
  const [areLimitsOpen, setLimitsOpen] = useState(false);
  /** The data that the user has checked since the service found the page outdated. null: none yet. Undefined: it never was. */
  const [checked, setChecked] = useState<Consent | null>();
  const [isReplacing, setReplacing] = useState(false);
  const signing = useSigning(uploaded, 'Choose that one, or replace your key.');
  const { fault } = signing;
  const isShown = !loaded.isLoading && loaded.problem === undefined;
  const isChecked = checked === undefined || checked === consent;
  const mustSign = policy === 'all_signed';
  const { cvms, runs, isOver, until, options } = chosen;
  const limits = limitsOf({ ...chosen.limits, journal_head });
  const approved = { domain, computation: id, approver: me.user, manifest_digest, configuration_digest, ...limits };
  const approve = useAction(async () => {
    const signer = await signing.read();
    const counted = limits.max_runs === undefined ? limits : { ...limits, approval_id: newUuid() };
    const text = approvalText({ ...approved, ...counted });
    const signature = await signer?.sign(text);
    const body = { digest: manifest_digest, configuration_digest, ...counted };
    try {
      await client.approve({ id, body: { ...body, ...(signature !== undefined && { signature }) } });
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.reason !== 'stale_digest') throw error;
      setChecked(null);
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
    goOn(afterwards);
  });
  const errors = fieldErrors(approve.problem, ['/cvm_ids', '/max_runs', '/signature']);
  const isSigned = mustSign || signing.isWanted;
  const [obstacle] = [
    !isShown && 'The page is loading.',
    !isChecked && 'Check what has changed first.',
    chosen.areRunsWrong && 'Correct the number of runs first.',
    isOver && 'Choose until when your approval is valid first.',
    isSigned && uploaded === undefined && 'Upload your public key first.',
    isSigned && !signing.canSign && 'Choose the private key of your public key first.',
  ].filter((reason) => reason !== false);
  return (
    <div className="decision">
      <Container disableContentPaddings>
        <form
          className="stack"
          aria-label="Approve"
          onSubmit={(event) => {
            event.preventDefault();
            if (obstacle === undefined && !approve.isRunning) void approve.run();
          }}
        >
          <ExpandableSection
            variant="inline"
            headerText={[
              `Limits: ${cvms === '' ? 'any CVM' : `only ${cvms}`}`,
              until?.label.toLowerCase() ?? 'expired',
              ...(limits.max_runs === undefined ? [] : [limits.max_runs === 1 ? 'for 1 run' : `for ${limits.max_runs} runs`]),
            ].join(', ')}
            expanded={
              areLimitsOpen ||
              isOver ||
              chosen.areRunsWrong ||
              errors.at('/cvm_ids') !== undefined ||
              errors.at('/max_runs') !== undefined
            }
            onChange={({ detail }) => setLimitsOpen(detail.expanded)}
          >
            <div className="filters">
              <Choice
                isList
                label="How long the approval is valid"
                errorText={isOver && 'Your approval has expired. Choose until when it is valid now.'}
                value={until?.value}
                options={options}
                onChange={chosen.choose}
              />
              <TextField
                label="Only on these CVMs (optional)"
                description="Identifiers, separated by commas. Empty: on any CVM."
                errorText={errors.at('/cvm_ids')}
                text={[cvms, chosen.type]}
                onKeyDown={unlessEnter}
              />
              <TextField
                label="For so many runs (optional)"
                description="Runs that start with your approval, from 1 to 1,000. Empty: any number."
                errorText={chosen.areRunsWrong ? 'Expected a whole number from 1 to 1,000.' : errors.at('/max_runs')}
                inputMode="numeric"
                text={[runs, chosen.typeRuns]}
                onKeyDown={unlessEnter}
              />
            </div>
            <div>
              Or approve exactly this, signed, with the command line:{' '}
              <Hash value={approveCommand(approved)} what="command" isWhole />
            </div>
          </ExpandableSection>
          {checked !== undefined && isShown && (
            <div role="alert">
              <Alert type="warning" header="The computation has changed">
                Nothing was approved. This page shows the manifest and the configuration as they are now: check them, then
                approve.
                <Checkbox checked={isChecked} onChange={({ detail }) => setChecked(detail.checked ? consent : null)}>
                  I have checked what this page shows now
                </Checkbox>
              </Alert>
            </div>
          )}
          <ProblemAlert problem={fault === undefined ? approve.problem : undefined} fields={errors.fields} />
          <div className="row decide">
            <SigningField
              signing={signing}
              isOptional={!mustSign}
              error={errors.at('/signature')}
              none="You have uploaded no public key here."
              without="Approve without a signature"
              onChoose={approve.forget}
            >
              {(uploaded === undefined || (fault !== undefined && !signing.isLocked)) && (
                <Button formAction="none" variant="inline-link" onClick={() => setReplacing(true)}>
                  {uploaded === undefined ? 'Upload your public key' : 'Replace your key'}
                </Button>
              )}
            </SigningField>
            <div className="row">
              <Button
                variant="primary"
                loading={approve.isRunning}
                disabled={obstacle !== undefined}
                disabledReason={obstacle ?? ''}
              >
                {isSigned ? 'Sign and approve' : 'Approve'}
              </Button>
              <Button formAction="none" onClick={onRefuse}>
                Refuse
              </Button>
            </div>
          </div>
        </form>
      </Container>
      {isReplacing && (
        <UploadKey
          id={id}
          onClose={() => setReplacing(false)}
          onDone={() => {
            setReplacing(false);
            signing.forget();
            loaded.reload();
          }}
        />
      )}
    </div>
  );
}

/** Keeps the key Enter in a field from approving. */
const unlessEnter: NonNullable<InputProps['onKeyDown']> = (event) => event.detail.key === 'Enter' && event.preventDefault();

/** The data that a user looks at before approving a computation. */
export type Consent = Awaited<ReturnType<typeof loadConsent>>;

/**
 * Reads the data that a user looks at before approving a computation.
 * @throws ContradictionError; ServiceProblem, also while there is no manifest
 */
export async function loadConsent(client: Client, user: string, id: string, signal: AbortSignal) {
  const journal_head = await readJournalHead(client, id, signal);
  const [overview, { events }] = await Promise.all([
    loadOverview(client, id, signal),
    client.listEvents({ id, event_type: 'key_uploaded', originator: user, limit: 1, signal }),
  ]);
  const uploaded = overview.hasMyKey ? detailsIn(events[0]?.details ?? '')['fingerprint'] : undefined;
  return {
    overview,
    coverage: await readCoverage(client, { id, computation: overview.computation, signal }),
    /** The newest event of the journal when the page was loaded: the history that the user saw. */
    journal_head,
    /** The fingerprint of the key that the user uploaded to the computation. */
    uploaded: typeof uploaded === 'string' ? uploaded : undefined,
  };
}
