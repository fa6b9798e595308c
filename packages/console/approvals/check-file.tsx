import { Box, Button, FileInput } from '@cloudscape-design/components';
import { fromBase64 } from 'computation-management-formats/bytes';
import { useEffect, useRef, useState } from 'react';
import { useDomain } from '../access/index.ts';
import { hashFile } from '../assets/hash-file.ts';
import { ProblemAlert, problemText, useAction } from '../loading/index.ts';
import { Groups, Name, StatusIndicator, User } from '../show/index.ts';

type Found = { percent: number } | { hash: string } | { problem: unknown };
type Outcome = { file: string } & Found;

/**
 * Shows a field that compares a file of the user with a file of a manifest. The file is hashed in the browser and sent nowhere.
 * @param what the file of the manifest in words, such as `the algorithm`
 * @param hash the SHA3-256 of the file in the manifest, hex
 */
export function CompareFile({ what, hash: expected }: { what: string; hash: string }) {
  const [outcome, setOutcome] = useState<Outcome>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const compare = async (file: File | undefined) => {
    if (!file) return;
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    const tell = (found: Found) => {
      if (!signal.aborted) setOutcome({ file: file.name, ...found });
    };
    tell({ percent: 0 });
    const onProgress = (bytes: number) => tell({ percent: Math.floor((100 * bytes) / file.size) });
    await hashFile(file, { signal, onProgress }).then(
      (hash) => tell({ hash }),
      (problem: unknown) => tell({ problem }),
    );
  };
  return (
    <>
      <FileInput ariaLabel={`Compare ${what} with my file`} value={[]} onChange={({ detail }) => void compare(detail.value[0])}>
        Compare with my file
      </FileInput>
      <div role="status">{outcome && <Compared outcome={outcome} expected={expected} />}</div>
    </>
  );
}

function Compared({ outcome, expected }: { outcome: Outcome; expected: string }) {
  const file = <Name of={outcome.file} />;
  if ('percent' in outcome)
    return (
      <StatusIndicator type="loading">
        Hashing {file}: {outcome.percent} %
      </StatusIndicator>
    );
  if ('problem' in outcome)
    return (
      <StatusIndicator type="error">
        {file}: {problemText(outcome.problem).detail}
      </StatusIndicator>
    );
  if (outcome.hash === expected) return <StatusIndicator type="success">Same content as {file}</StatusIndicator>;
  return (
    <StatusIndicator type="error">
      Not the content of {file}, whose hash is{' '}
      <span className="hash">
        <Groups of={outcome.hash} />
      </span>
    </StatusIndicator>
  );
}

/**
 * The pattern of a carriage return without a line feed. For an interpreter the character begins a new line, but on the screen it is a
 * blank.
 */
const loneReturn = /\r(?!\n)/g;

/** Shows the text of an algorithm, the content of an asset, after checking that its hash is the one in the manifest. */
export function OpenText({ id, creator, hash }: { id: string; creator: string; hash: string }) {
  const { client, me } = useDomain();
  const [text, setText] = useState<string>();
  const read = useAction(async () => {
    const { asset } = await client.getAsset({ id });
    if (asset === undefined) throw new Error('The content is too long to show. Download it on the page of the asset.');
    const bytes = fromBase64(asset) ?? new Uint8Array();
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
      {creator !== me.user && (
        <Box variant="small" display="block">
          <User of={creator} /> sees that you read it.
        </Box>
      )}
      <ProblemAlert problem={read.problem} />
    </>
  );
}
