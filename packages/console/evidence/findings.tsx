import { Alert, LiveRegion } from '@cloudscape-design/components';
import { type Finding, sumOf } from 'computation-management-verify';
import { Panel } from '../frame/panel.tsx';
import { LoadedView } from '../loading/problem-alert.tsx';
import { useLoaded } from '../loading/use-loaded.ts';
import type { Judgement } from './judge.ts';

const kinds = [
  ['does not hold', 'Does not hold'],
  ['note', 'Not checked, or not shown by the evidence'],
  ['holds', 'Holds'],
] as const;

/** More would stop the page. */
const mostShown = 200;
const mostCharacters = 2_000;

/** What the verifier finds, in its own words. */
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

function Sum({ of }: { of: Judgement }) {
  if ('problem' in of)
    return (
      <Alert type="error" header="Nothing was checked">
        <span className="long-words">{cut(of.problem)}</span>
      </Alert>
    );
  const isWrong = of.findings.some(({ verdict }) => verdict === 'does not hold');
  return (
    <Alert type={isWrong ? 'error' : 'success'} header={sumOf(of.findings)}>
      {isWrong ? 'Do not rely on this evidence.' : 'This is worth as much as the keys below: compare them.'}
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
          <li>The fingerprint of the key behind each approval, with the user, for example by phone.</li>
          <li>The SHA-512 of the certificate of an attested CVM, with the certificate that the CVM shows.</li>
          <li>This page, which comes from the service, with the output of your own copy of cms verify.</li>
        </ul>
      </Panel>
    </>
  );
}

const cut = (text: string) => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text);

/** Sets apart what a sentence quotes, so that no text of others changes the order of its words. */
const apart = (sentence: string) =>
  sentence.split(/("(?:[^"\\]|\\.)*")/).map((part, index) => (index % 2 === 1 ? <bdi key={index}>{part}</bdi> : part));
