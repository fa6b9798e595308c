import { Alert, FileInput, FormField, LiveRegion } from '@cloudscape-design/components';
import { exitCodeOf, type Finding, sumOf } from 'computation-management-verify';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { Panel, ScreenFrame } from '../frame/index.ts';
import { LoadedView, useLoaded } from '../loading/index.ts';
import { aboveInComputation, addressOf } from '../routing/index.ts';
import { Name } from '../show/index.ts';
import { readArchive } from './evidence-archive.ts';
import { judge, type Judgement } from './judge.ts';
import { followLogHere } from './seen-log.ts';

/** Shows the screen that verifies the evidence of a run of this service. */
export function VerifyRunScreen({ id, run }: { id: string; run: string }) {
  const { client, domain } = useDomain();
  const load = async (signal: AbortSignal) => {
    const { text } = await readArchive(client, { id, run, signal });
    const judged = await judge({ archive: [text], keys: [], certificates: [], roots: [] }, signal);
    const alarm = await followLogHere(client, text, signal);
    if (!alarm || !('findings' in judged)) return judged;
    const sentence = `${alarm.message} Both states are saved as a file. Show it to the other parties.`;
    return { findings: [{ verdict: 'does not hold' as const, sentence }, ...judged.findings] };
  };
  const above = [...aboveInComputation(domain, id), { text: 'Run', href: addressOf({ screen: 'run', domain, id, run }) }];
  return (
    <ScreenFrame title="Verify this run" above={above} description="Checks the evidence of the run in this browser.">
      <Findings load={load} />
    </ScreenFrame>
  );
}

const fields = [
  ['archive', 'Evidence', 'What Download evidence saves.'],
  ['keys', 'Public keys of the service - optional', 'Those of /.well-known/jwks.json that you or another party saved before.'],
  ['certificates', 'Certificates of AMD - optional', 'What an attestation token lacks: DER or PEM.'],
  [
    'roots',
    'Root certificates for tests - optional',
    'Trusted in place of those of AMD and Intel. What they certify proves no TEE.',
  ],
] as const;

/** Shows the screen that verifies evidence in a file, from whatever service. The screen needs no sign-in and sends nothing. */
export function VerifyScreen() {
  const none: File[] = [];
  const [{ count, ...chosen }, setChosen] = useState({ count: 0, archive: none, keys: none, certificates: none, roots: none });
  const description = 'Checks the evidence of a run in this browser, as cms verify does. The files are sent nowhere.';
  return (
    <ScreenFrame title="Verify evidence" above={[]} description={description}>
      <Panel title="Files">
        {fields.map(([part, label, description]) => (
          <FormField key={part} label={label} description={description}>
            <div className="row">
              <FileInput
                ariaLabel={`Choose: ${label}`}
                value={[]}
                multiple={part === 'certificates' || part === 'roots'}
                onChange={({ detail }) => setChosen({ ...chosen, [part]: detail.value, count: count + 1 })}
              >
                Choose
              </FileInput>
              {chosen[part].map((file, index) => (
                <Name key={index} of={file.name} />
              ))}
            </div>
          </FormField>
        ))}
      </Panel>
      {chosen.archive.length > 0 && <Findings key={count} load={(signal) => judge(chosen, signal)} />}
    </ScreenFrame>
  );
}

const kinds = [
  ['does not hold', 'Does not hold'],
  ['not checked', 'Not checked, although the computation demands it'],
  ['note', 'Not shown by the evidence'],
  ['holds', 'Holds'],
] as const;

/** The most findings of each kind that the page shows of an archive of evidence. More findings would make the page hang. */
const mostShown = 200;
const mostCharacters = 2_000;

/** Shows the findings of the verifier of evidence in the words of the verifier. */
export function Findings({ load }: { load: (signal: AbortSignal) => Promise<Judgement> }) {
  const loaded = useLoaded('', load);
  return (
    <LoadedView loaded={loaded} what="and checking the evidence">
      {(judgement) => (
        <>
          <LiveRegion>
            <Sum of={judgement} />
          </LiveRegion>
          {'findings' in judgement && <Kinds findings={judgement.findings} />}
        </>
      )}
    </LoadedView>
  );
}

/** The kind of the alert and the advice, by the exit code that `cms verify` has with the same findings. */
const outcomes = {
  0: ['success', 'This is worth as much as the keys below: compare them.'],
  1: ['error', 'Do not rely on this evidence.'],
  3: ['warning', 'Do not rely on what was not checked. Give the files that it needs.'],
} as const;

function Sum({ of }: { of: Judgement }) {
  if ('problem' in of)
    return (
      <Alert type="error" header="Nothing was checked">
        <span className="long-words">{cut(of.problem)}</span>
      </Alert>
    );
  const [type, advice] = outcomes[exitCodeOf(of.findings)];
  return (
    <Alert type={type} header={sumOf(of.findings)}>
      {advice}
    </Alert>
  );
}

function Kinds({ findings }: { findings: Finding[] }) {
  const all = kinds.map(([verdict, title]) => ({ title, found: findings.filter((each) => each.verdict === verdict) }));
  const shown = all.filter(({ found }) => found.length > 0);
  return (
    <>
      {shown.map(({ title, found }) => (
        <Panel key={title} title={title} counter={`(${found.length})`}>
          <ul className="long-words" aria-label={title}>
            {found.slice(0, mostShown).map(({ sentence }, index) => (
              <li key={index}>{apart(cut(sentence))}</li>
            ))}
          </ul>
          {found.length > mostShown && `The first ${mostShown} are shown. cms verify prints all.`}
        </Panel>
      ))}
      <Panel title="What only you can compare">
        <ul>
          <li>The key that signed the statement, with what other parties saved of the service.</li>
          <li>The state of the log, with what other parties see of the same run.</li>
          <li>The fingerprint of the key behind each approval, with the user, for example by phone.</li>
          <li>The fingerprint of the certificate of an attested CVM, with the one that the page of the CVM shows.</li>
          <li>This page, which comes from the service, with the output of your own copy of cms verify.</li>
        </ul>
      </Panel>
    </>
  );
}

const cut = (text: string) => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text);

/** Isolates the quoted parts of a sentence, so that no text of others changes the order of the sentence's words on the screen. */
const apart = (sentence: string) =>
  sentence.split(/("(?:[^"\\]|\\.)*")/).map((part, index) => (index % 2 === 1 ? <bdi key={index}>{part}</bdi> : part));
