import Button from '@cloudscape-design/components/button';
import { items, type Schemas } from 'computation-management-client';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { saveFile } from '../show/save-file.ts';

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
      `The browser saves three files: the evidence, the keys and the events. If the browser asks, allow several downloads. To check the files, run this in their folder: ${command}`,
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

interface Evidence {
  evidence: object;
  /** The public keys of the service. */
  keys: object;
  /** The events of the computation. */
  events: object[];
}

/** What a user saves to check a run without the service: the files, and the command that checks them. */
interface EvidenceFiles {
  files: { name: string; text: string }[];
  command: string;
}

/** Returns the files that `cms evidence` saves too, under names that keep the runs apart. */
export function evidenceFiles(run: string, { evidence, keys, events }: Evidence): EvidenceFiles {
  const nameOf = (part: string) => `${part}-${run}.json`;
  const contents = { evidence, keys, events: { events } };
  return {
    files: Object.entries(contents).map(([part, content]) => ({
      name: nameOf(part),
      text: `${JSON.stringify(content, null, 2)}\n`,
    })),
    command: `cms verify ${nameOf('evidence')} --keys ${nameOf('keys')} --events ${nameOf('events')}`,
  };
}
