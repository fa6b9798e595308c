import Button from '@cloudscape-design/components/button';
import type { Schemas } from '../../client/index.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { useDomain, useFrame } from '../shell/console-context.ts';
import { saveFile } from '../show/save-file.ts';

/** Saves the signed statement about a run that has ended. */
export function DownloadEvidence({ run: { id: run, computation_id: id } }: { run: Schemas['Run'] }) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const download = useAction(async () => {
    const evidence = await client.getEvidence({ id, run });
    saveFile(`evidence-${run}.json`, `${JSON.stringify(evidence, null, 2)}\n`);
    notify('The evidence is downloaded. Check it with: cms verify');
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
