import { FileInput, FormField } from '@cloudscape-design/components';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { Panel } from '../frame/panel.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { aboveInComputation, addressOf } from '../routing/places.ts';
import { Name } from '../show/visible-texts.tsx';
import { readArchive } from './evidence-archive.ts';
import { Findings } from './findings.tsx';
import { judge } from './judge.ts';

/** Fetches the archive of a run and judges it. */
export function VerifyRunScreen({ id, run }: { id: string; run: string }) {
  const { client, domain } = useDomain();
  const load = async (signal: AbortSignal) => {
    const { text } = await readArchive(client, { id, run, signal });
    return await judge({ archive: [text], keys: [], certificates: [], roots: [] }, signal);
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

/** Judges an archive from anywhere. Needs no sign-in and sends nothing. */
export function VerifyScreen() {
  const none: File[] = [];
  const [{ count, ...chosen }, setChosen] = useState({ count: 0, archive: none, keys: none, certificates: none, roots: none });
  const description = 'Checks the evidence of a run in this browser, as cms verify does. The files are sent nowhere.';
  return (
    <ScreenFrame title="Verify evidence" above={[]} description={description}>
      <Panel title="Files">
        <div className="stack">
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
        </div>
      </Panel>
      {chosen.archive.length > 0 && <Findings key={count} load={(signal) => judge(chosen, signal)} />}
    </ScreenFrame>
  );
}
