import { Button } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { Hash } from '../show/hash.tsx';
import { saveFile } from '../show/save-file.ts';
import { readArchive } from './evidence-archive.ts';

/** Saves the signed statement about a run that has ended, with the keys and the events that its check needs, or leads to its check. */
export function DownloadEvidence({ run: { id: run, computation_id: id } }: { run: Schemas['Run'] }) {
  const { client, domain } = useDomain();
  const { notify } = useFrame();
  const download = useAction(async () => {
    const { name, text, command } = await readArchive(client, { id, run });
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
      <Button href={addressOf({ screen: 'verify-run', domain, id, run })}>Verify this run</Button>
    </>
  );
}
