import { Button } from '@cloudscape-design/components';
import { items, type Schemas } from 'computation-management-client';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { Hash } from '../show/hash.tsx';
import { saveFile } from '../show/save-file.ts';
import { evidenceArchive } from './evidence-files.ts';

/** Saves the signed statement about a run that has ended, with the keys and the events that its check needs. */
export function DownloadEvidence({ run: { id: run, computation_id: id } }: { run: Schemas['Run'] }) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const download = useAction(async () => {
    const [evidence, keys, attestation] = await Promise.all([
      client.getEvidence({ id, run }),
      client.jwks(),
      client.getAttestation({ id, run }),
    ]);
    const events: Schemas['Event'][] = [];
    for await (const event of items(client, 'listEvents', { id })) events.push(event);
    const tokens = await Promise.all(attestation.tokens.map(({ download: { url } }) => base64At(url)));
    const { name, text, command } = evidenceArchive(run, { evidence, keys, events, tokens });
    saveFile(name, text);
    notify(
      <>
        The evidence, the keys, the events and the attestation tokens are saved as one file. To check it, run this beside it:{' '}
        <Hash value={command} what="command" isWhole />
      </>,
    );
  });
  return (
    <>
      <ProblemAlert problem={download.problem} />
      <Button iconName="download" loading={download.isRunning} onClick={() => void download.run()}>
        Download evidence
      </Button>
    </>
  );
}

/** @throws Error if storage refuses */
async function base64At(url: string): Promise<string> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`A token could not be read: storage answered ${answer.status}.`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
