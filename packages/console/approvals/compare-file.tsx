import { FileInput } from '@cloudscape-design/components';
import { useEffect, useRef, useState } from 'react';
import { problemText } from '../loading/problem-text.ts';
import { Groups } from '../show/hash.tsx';
import { StatusIndicator } from '../show/status.tsx';
import { Name } from '../show/visible-texts.tsx';
import { hashFile } from './hash-file.ts';

interface Props {
  /** What it is compared with, such as `the algorithm`. */
  what: string;
  /** The SHA3-256 in the manifest, hex. */
  hash: string;
}

type Outcome = { file: string } & ({ percent: number } | { hash: string } | { problem: unknown });

/** Compares a file of the user with one of a manifest. It is hashed in the browser and sent nowhere. */
export function CompareFile({ what, hash: expected }: Props) {
  const [outcome, setOutcome] = useState<Outcome>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const compare = async (file: File | undefined) => {
    if (!file) return;
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    const tell = (found: { percent: number } | { hash: string } | { problem: unknown }) => {
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
