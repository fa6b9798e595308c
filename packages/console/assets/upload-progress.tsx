import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import ProgressBar from '@cloudscape-design/components/progress-bar';
import SpaceBetween from '@cloudscape-design/components/space-between';
import type { ReactNode } from 'react';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { sizeText } from '../show/size-text.ts';
import type { Upload } from './use-upload.ts';

interface Props {
  upload: Upload;
  /** What names the asset, such as a link to it. */
  asset: ReactNode;
  retry?: (() => void) | undefined;
}

/** How far the upload of a file is. */
export function UploadProgress({ upload, asset, retry }: Props) {
  const { state, sent, file, problem, cancel } = upload;
  if (state === 'idle' || !file) return null;
  if (state === 'failed') return <ProblemAlert problem={problem} retry={retry} />;
  if (state === 'cancelled') {
    return (
      <Alert type="info" header="The upload was cancelled">
        No content is kept, unless the whole file had already arrived. The asset {asset} stays: upload again, or delete it.
      </Alert>
    );
  }
  if (state === 'done') {
    return (
      <Alert type="success" header={`${file.name} is uploaded`}>
        The service has hashed it.
      </Alert>
    );
  }
  const percent = file.size === 0 ? 100 : (100 * sent) / file.size;
  const { label, description } = words[state];
  return (
    <SpaceBetween size="xs">
      <ProgressBar
        label={label(file.name)}
        description={description}
        value={percent}
        additionalInfo={`${sizeText(sent)} of ${sizeText(file.size)}`}
      />
      {state !== 'hashing' && (
        <Button formAction="none" onClick={cancel}>
          Cancel the upload
        </Button>
      )}
    </SpaceBetween>
  );
}

const words = {
  sending: { label: (file: string) => `Uploading ${file}`, description: 'Keep this page open.' },
  interrupted: {
    label: (file: string) => `The upload of ${file} was cut off`,
    description: 'It restarts automatically. Keep this page open.',
  },
  hashing: {
    label: (file: string) => `${file} has arrived`,
    description: 'The service computes its hash. You can leave this page.',
  },
};
