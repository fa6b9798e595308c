import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import ProgressBar from '@cloudscape-design/components/progress-bar';
import SpaceBetween from '@cloudscape-design/components/space-between';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { sizeText } from '../show/size-text.ts';
import type { Upload } from './use-upload.ts';

/** How far the upload of a file is. */
export function UploadProgress({ upload, retry }: { upload: Upload; retry?: (() => void) | undefined }) {
  const { state, sent, file, problem, cancel } = upload;
  if (state === 'idle' || !file) return null;
  if (state === 'failed') return <ProblemAlert problem={problem} retry={retry} />;
  if (state === 'cancelled') {
    return (
      <Alert type="info" header="The upload was cancelled">
        Nothing of {file.name} is kept, unless the whole file had already arrived.
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
