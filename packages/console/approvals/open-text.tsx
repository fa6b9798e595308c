import { Box, Button } from '@cloudscape-design/components';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { Name } from '../show/visible-texts.tsx';
import { hashFile } from './hash-file.ts';

interface Props {
  /** The asset. */
  id: string;
  creator: string;
  isMine: boolean;
  /** The SHA3-256 in the manifest, hex. */
  hash: string;
}

/** Begins a line for an interpreter, and is a blank on the screen. */
const loneReturn = /\r(?!\n)/g;

/** Shows the text of an algorithm, if it is the one of the manifest. */
export function OpenText({ id, creator, isMine, hash }: Props) {
  const { client } = useDomain();
  const [text, setText] = useState<string>();
  const read = useAction(async () => {
    const { asset } = await client.getAsset({ id });
    if (asset === undefined) throw new Error('The content is too long to show. Download it on the page of the asset.');
    const bytes = Uint8Array.from(atob(asset), (character) => character.charCodeAt(0));
    if ((await hashFile(new Blob([bytes]), { signal: new AbortController().signal })) !== hash) {
      throw new Error('The service returned another content than that of the manifest. Do not approve it.');
    }
    try {
      setText(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    } catch {
      throw new Error(
        'The content is that of the manifest, and no text. Compare it with your file, or download it on the page of the asset.',
      );
    }
  });
  if (text !== undefined) {
    return (
      <pre className="json whole-lines" tabIndex={0} aria-label="The text of the algorithm">
        {text.replace(loneReturn, '‹U+000D›\n')}
      </pre>
    );
  }
  return (
    <>
      <Button loading={read.isRunning} onClick={() => void read.run()}>
        Read the algorithm
      </Button>
      {!isMine && (
        <Box variant="small" display="block">
          <Name of={creator} /> sees that you read it.
        </Box>
      )}
      <ProblemAlert problem={read.problem} />
    </>
  );
}
