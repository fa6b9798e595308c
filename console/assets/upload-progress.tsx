import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import ProgressBar from '@cloudscape-design/components/progress-bar';
import SpaceBetween from '@cloudscape-design/components/space-between';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { sizeText } from '../show/size-text.ts';
import type { Upload } from './use-upload.ts';

/** How far the upload of a file is. */
export function UploadProgress({ upload, retry }: { upload: Upload; retry?: () => void }) {
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
  return (
    <SpaceBetween size="xs">
      <ProgressBar
        label={state === 'sending' ? `Uploading ${file.name}` : `${file.name} has arrived`}
        description={state === 'sending' ? 'Keep this page open.' : 'The service computes its hash.'}
        value={percent}
        additionalInfo={`${sizeText(sent)} of ${sizeText(file.size)}`}
      />
      {state === 'sending' && (
        <Button formAction="none" onClick={cancel}>
          Cancel the upload
        </Button>
      )}
    </SpaceBetween>
  );
}
