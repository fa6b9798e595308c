import { Alert, Box, Button, KeyValuePairs, SpaceBetween } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { fromBase64 } from 'computation-management-formats/bytes';
import { type CoveredReview, type Decision, decisionText } from 'computation-management-formats/consent';
import { usersText } from 'computation-management-words';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/index.ts';
import { CompareFile } from '../approvals/check-file.tsx';
import { hashFile } from '../assets/hash-file.ts';
import { saveContent } from '../assets/save-content.ts';
import { UploadForm } from '../assets/upload-progress.tsx';
import { Panel, TextField } from '../frame/index.ts';
import { SigningField, useSigning } from '../keys/signing-field.tsx';
import { ActionButton, fieldErrors, LoadedView, ProblemAlert, refreshSeconds, useAction, useLoaded } from '../loading/index.ts';
import { useUnsavedWork } from '../routing/index.ts';
import { Hash, type Look, Looking, Moment, Quote, saveFile, sizeText, StatusIndicator, User } from '../show/index.ts';
import { actsOn, deletedText, keyOfReviewer, resultText } from './result.ts';

type Run = Schemas['Run'];
type Result = NonNullable<Run['result']>;

const looks: Record<Result['state'], Look> = {
  awaiting_file: { type: 'pending', text: 'Not handed in yet' },
  under_review: { type: 'in-progress', text: 'Under review' },
  released: { type: 'success', text: 'Released' },
  withheld: { type: 'stopped', text: 'Withheld' },
};

/**
 * Shows the result of a completed run with a review: its state and decisions at once, and what the user can do about it. The review is that
 * of the run's evidence, which may take a while: the computation may have changed since. Nothing of a result is rendered, because its file
 * may be anything.
 */
export function ResultPanel({ run: ended }: { run: Run }) {
  const { client } = useDomain();
  const { id: run, computation_id: id } = ended;
  const evidence = useLoaded(run, (signal) => client.getEvidence({ id, run, signal }));
  const latest = useLoaded(run, (signal) => client.getRun({ id, run, signal }), {
    everySeconds: isDecided(ended.result) ? undefined : refreshSeconds.runs,
  });
  const { result } = latest.value ?? ended;
  if (!result) return null;
  const { state, checksum, size, decisions } = result;
  return (
    <Panel title="Result">
      <ProblemAlert problem={latest.problem} retry={latest.reload} isRetrying={latest.isLoading} />
      <Looking like={looks[state]} />
      {checksum !== null && (
        <KeyValuePairs
          columns={1}
          items={[
            { label: 'SHA3-256 of the file', value: <Hash value={checksum} what="hash of the result" isWhole /> },
            { label: 'Size', value: sizeText(size) },
          ]}
        />
      )}
      {decisions.length > 0 && (
        <ul className="plain stack" aria-label="Decisions on the result">
          {decisions.map(({ reviewer, decision, note, decided_at }) => (
            <li key={reviewer}>
              <StatusIndicator type={decision === 'release' ? 'success' : 'stopped'}>
                <User of={reviewer} /> {decision === 'release' ? 'releases it' : 'withholds it'}
              </StatusIndicator>{' '}
              {note !== '' && <Quote of={note} />} <Moment at={decided_at} />
            </li>
          ))}
        </ul>
      )}
      <LoadedView loaded={evidence} what="the review of the result">
        {({ statement: { configuration, manifest } }) =>
          configuration.result_review && (
            <Reviewed
              {...{ run: ended, result, review: configuration.result_review, manifest, reload: latest.reload }}
              isSigned={configuration.approval === 'all_signed'}
            />
          )
        }
      </LoadedView>
    </Panel>
  );
}

const isDecided = (result: Run['result']) => result?.state === 'released' || result?.state === 'withheld';

interface ReviewProps {
  run: Run;
  result: Result;
  /** The review of the result, as it was when the run started. */
  review: CoveredReview;
  /** True if decisions must be signed. */
  isSigned: boolean;
  manifest: Pick<Schemas['Manifest'], 'result_consumers'>;
  reload: () => void;
}

/** Shows what a review of a result still waits for, and what the user can do about the result. */
function Reviewed(props: ReviewProps) {
  const { client, me } = useDomain();
  const { result, review, run, reload } = props;
  const { asset, checksum } = result;
  const place = { id: run.computation_id, run: run.id };
  const { mayHandIn, mayDecide, mayDownload } = actsOn(result, review, me.user);
  const [isLink, setLink] = useState(false);
  const download = async () => {
    const content = await client.getAsset({ id: asset ?? '' }).catch((problem: unknown) => {
      const isGone = result.state === 'released' && problem instanceof ServiceProblem && problem.code === 'not_found';
      throw isGone ? new Error(deletedText(result)) : problem;
    });
    const stated = isDecided(result) ? (await client.getResult(place)).statement.checksum : checksum;
    const bytes = new Blob([fromBase64(content.asset ?? '') ?? '']);
    const found = content.download ? content.checksum : await hashFile(bytes, { signal: new AbortController().signal });
    if (found !== stated) throw new Error('The service gives another file than the one that was decided on. Nothing was saved.');
    saveContent(content);
    setLink(content.download !== undefined);
  };
  const handIn = async (file: File, hash: (file: File) => Promise<string | undefined>) => {
    const sha3 = await hash(file);
    if (sha3 === undefined) return undefined;
    return await client.handInResult({ ...place, body: { file_name: file.name, size: file.size, checksum: sha3 } });
  };
  return (
    <>
      <div>{resultText(result, review)}</div>
      <div className="row">
        {mayDownload && (
          <ActionButton iconName="download" act={download}>
            Download the result
          </ActionButton>
        )}
        {mayDownload && checksum !== null && <CompareFile what="the result" hash={checksum} />}
        {isDecided(result) && (
          <ActionButton
            act={async () => saveFile(`result-${run.id}.json`, JSON.stringify(await client.getResult(place), null, 2))}
          >
            Save the signed statement
          </ActionButton>
        )}
      </div>
      {mayDownload && (
        <Box variant="small">
          Open it with care. The agent signs no result: only who fetched it from the CVM knows that this file is the result.
          {isLink && ' Its hash was not checked, since it is large: choose the saved file under “Compare with my file”.'}
        </Box>
      )}
      {mayHandIn && (
        <UploadForm
          label={checksum === null ? 'Hand in the result' : 'Hand in another file in its place'}
          description="The file that you fetched from the CVM, up to 5 GiB. The reviewers and the operator of this service can read it."
          submit="Hand in"
          begin={handIn}
          notice="The result is handed in."
          reload={reload}
        />
      )}
      {mayDecide && checksum !== null && <Decide key={checksum} {...props} checksum={checksum} />}
    </>
  );
}

/** Shows a form that releases or withholds a result, signed with the key that the manifest of the run has for the reviewer. */
function Decide({ run, review, isSigned: mustSign, manifest, checksum, reload }: ReviewProps & { checksum: string }) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const { id, computation_id: computation, manifest_digest } = run;
  const [note, setNote] = useState('');
  useUnsavedWork(note === '' ? undefined : 'form');
  const signing = useSigning(keyOfReviewer(manifest, review, me.user), 'Choose that one.');
  const decide = useAction(async (decision: Decision) => {
    const signer = await signing.read();
    const decided = { domain, computation, run: id, reviewer: me.user, manifest_digest, checksum, decision, note };
    const signature = await signer?.sign(decisionText(decided));
    const body = { decision, checksum, note, ...(signature !== undefined && { signature }) };
    await client.decideResult({ id: computation, run: id, body });
    notify(decision === 'release' ? 'You have released the result.' : 'You have withheld the result.');
    reload();
  });
  const errors = fieldErrors(decide.problem, ['/note', '/signature']);
  const isSigned = mustSign || signing.isWanted;
  const obstacle = isSigned && !signing.canSign ? 'Choose the private key of your public key first.' : undefined;
  return (
    <SpaceBetween size="s">
      <Alert type="info">
        Your decision is on the file with the hash above alone, and is final: compare the hash with the file that you have
        checked. With {review.needed === 1 ? 'one release' : `${review.needed} releases`}, it goes to{' '}
        {usersText(review.consumers)}.
      </Alert>
      <TextField
        label="Note (optional)"
        description="What you have checked. Everyone in the domain reads it."
        errorText={errors.at('/note')}
        rows={2}
        text={[note, setNote]}
      />
      <SigningField
        signing={signing}
        isOptional={!mustSign}
        error={errors.at('/signature')}
        none="The manifest of this run has no key of yours."
        without="Decide without a signature"
        onChoose={decide.forget}
      />
      <ProblemAlert problem={signing.fault === undefined ? decide.problem : undefined} fields={errors.fields} />
      <div className="row">
        {(['release', 'withhold'] as const).map((decision) => (
          <Button
            key={decision}
            variant={decision === 'release' ? 'primary' : 'normal'}
            loading={decide.isRunning}
            disabled={obstacle !== undefined}
            disabledReason={obstacle ?? ''}
            onClick={() => void decide.run(decision)}
          >
            {`${isSigned ? 'Sign and ' : ''}${decision}`.replace(/^./, (first) => first.toUpperCase())}
          </Button>
        ))}
      </div>
    </SpaceBetween>
  );
}
