import Button from '@cloudscape-design/components/button';
import { items, type Schemas } from 'computation-management-client';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { Hash } from '../show/hash.tsx';
import { saveFile } from '../show/save-file.ts';
import { evidenceFiles } from './evidence-files.ts';

/** Saves the signed statement about a run that has ended, with the keys and the events that its check needs. */
export function DownloadEvidence({ run: { id: run, computation_id: id } }: { run: Schemas['Run'] }) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const download = useAction(async () => {
    const [evidence, keys] = await Promise.all([client.getEvidence({ id, run }), client.jwks()]);
    const events: Schemas['Event'][] = [];
    for await (const event of items(client, 'listEvents', { id })) events.push(event);
    const { files, command } = evidenceFiles(run, { evidence, keys, events });
    for (const { name, text } of files) saveFile(name, text);
    // Browsers may ask before the second file, and do not tell the page the answer.
    notify(
      <>
        The browser saves three files: the evidence, the keys and the events. If the browser asks, allow several downloads. To
        check the files, run this in their folder: <Hash value={command} what="command" isWhole />
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
