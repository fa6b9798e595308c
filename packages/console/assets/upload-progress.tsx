import { Alert, Button, ProgressBar, SpaceBetween } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem, type StorageResponse } from 'computation-management-client';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useIsHere } from '../routing/navigation.ts';
import { sizeText } from '../show/texts.ts';
import { expectReadable, type Step, uploadFile } from './upload-file.ts';

interface Upload {
  state: 'idle' | Step['state'] | 'done' | 'cancelled' | 'failed';
  file: File | undefined;
  /** The number of bytes of the file that have been sent. */
  sent: number;
  problem: unknown;
  /** True once the whole file is in storage: the service then hashes the file, also after the page is left. */
  hasArrived: boolean;
  cancel: () => void;
  /**
   * Sends a file as the content of an asset. Without a target, fetches a new link to send the file to. Returns whether the content has
   * arrived and is hashed.
   */
  send: (asset: string, target: Schemas['AssetUpload'] | undefined, file: File) => Promise<boolean>;
}

type Progress = Pick<Upload, 'state' | 'file' | 'sent' | 'problem'>;

const idle: Progress = { state: 'idle', file: undefined, sent: 0, problem: undefined };

/**
 * Returns an upload, which sends a file to storage and then waits until the service has hashed it. Leaving the screen before the file has
 * arrived cancels the upload.
 */
export function useUpload(): Upload {
  const { client } = useDomain();
  const [progress, setProgress] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const cancel = () => controller.current?.abort();
  useEffect(() => () => controller.current?.abort(), []);
  const isHere = useIsHere();
  const change = (fields: Partial<Progress>) => setProgress((before) => ({ ...before, ...fields }));
  const send: Upload['send'] = async (id, target, file) => {
    if (!isHere()) return false; // the user has left while the asset was created
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress({ ...idle, state: 'sending', file });
    try {
      await uploadFile(client, { id, target, file, signal, put: putFile, onStep: change });
      change({ state: 'done' });
      return true;
    } catch (problem) {
      change(signal.aborted ? { state: 'cancelled' } : { state: 'failed', problem });
      return false;
    }
  };
  const hasArrived = progress.state === 'hashing' || progress.state === 'done';
  return { ...progress, hasArrived, cancel, send };
}

interface Props {
  upload: Upload;
  /** The name of the asset whose content is uploaded, or a link to the asset. */
  asset: ReactNode;
  retry?: (() => void) | undefined;
}

/** Shows how far the upload of a file is. */
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

interface PutOptions {
  signal: AbortSignal;
  /** Called with the number of bytes of the file that have been sent. */
  onProgress: (sent: number) => void;
}

const longestSilenceInMilliseconds = 60_000;

/**
 * Sends a file with a presigned request, straight to storage. Uses XMLHttpRequest, because `fetch` cannot tell the progress of a request.
 * @throws ServiceProblem `unreachable` if the connection breaks, or is silent for a minute; Error if the file can no longer be read; the
 * signal's reason
 */
function putFile(
  { method, url, headers }: Schemas['AssetUpload'],
  file: File,
  { signal, onProgress }: PutOptions,
): Promise<StorageResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<StorageResponse>();
  const request = new XMLHttpRequest();
  const breakOff = (detail: string) =>
    reject(new ServiceProblem({ status: 0, code: 'unreachable', detail, request: `${method} storage` }));
  let silence: ReturnType<typeof setTimeout>;
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      breakOff('Storage has not answered for a minute.');
      request.abort();
    }, longestSilenceInMilliseconds);
  };
  const cancel = () => {
    reject(signal.reason as Error);
    request.abort();
  };
  request.open(method, url);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.addEventListener('progress', ({ loaded }) => {
    listen();
    onProgress(loaded);
  });
  request.addEventListener('load', () => resolve({ status: request.status, body: request.responseText }));
  // The browser says the same of a connection that broke and of a file that it cannot read.
  request.addEventListener('error', () => {
    expectReadable(file).then(() => breakOff('The connection to storage broke.'), reject);
  });
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  else {
    listen();
    request.send(file);
  }
  return promise.finally(() => {
    clearTimeout(silence);
    signal.removeEventListener('abort', cancel);
  });
}
