import { Alert, Button, FileUpload, FormField, ProgressBar, SpaceBetween } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem, type StorageResponse } from 'computation-management-client';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useDomain, useFrame } from '../access/index.ts';
import { ProblemAlert, useAction } from '../loading/index.ts';
import { useIsHere, useUnsavedWork } from '../routing/index.ts';
import { sizeText } from '../show/index.ts';
import { fileFault } from './asset-texts.ts';
import { hashFile } from './hash-file.ts';
import { expectReadable, OtherContent, type PutFile, type Step, uploadFile } from './upload-file.ts';

interface Progress {
  state: 'idle' | 'reading' | Step['state'] | 'unread' | 'cancelled' | 'failed';
  file: File | undefined;
  /** The number of bytes of the file that have been hashed here, or sent. */
  sent: number;
  problem: unknown;
}

const idle: Progress = { state: 'idle', file: undefined, sent: 0, problem: undefined };

/**
 * Returns an upload, which sends a file to storage and then waits until the service has hashed it. Leaving the screen before the file has
 * arrived cancels the upload.
 */
export function useUpload() {
  const { client } = useDomain();
  const [progress, setProgress] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const cancel = () => controller.current?.abort();
  useEffect(() => () => controller.current?.abort(), []);
  const isHere = useIsHere();
  const change = (fields: Partial<Progress>) => setProgress((before) => ({ ...before, ...fields }));
  const attempt = async <Value,>(file: File, state: Progress['state'], act: (signal: AbortSignal) => Promise<Value>) => {
    if (!isHere()) return undefined; // the user has left while the asset was created
    const { signal } = (controller.current = new AbortController());
    setProgress({ ...idle, state, file });
    try {
      return await act(signal);
    } catch (problem) {
      const cancelled = state === 'reading' ? 'unread' : 'cancelled';
      change(signal.aborted ? { state: cancelled } : { state: 'failed', problem });
      return undefined;
    }
  };
  return {
    ...progress,
    cancel,
    /** True once the whole file is in storage: the service then hashes the file, also after the page is left. */
    hasArrived: progress.state === 'hashing',
    /** Returns the SHA3-256 of a file, hex, which is sent nowhere. Undefined if the user cancelled, or the file cannot be read. */
    hash: (file: File) =>
      attempt(file, 'reading', async (signal) => {
        const checksum = await hashFile(file, { signal, onProgress: (sent) => change({ sent }) });
        setProgress(idle);
        return checksum;
      }),
    /**
     * Sends a file as the content of an asset. Without a target, fetches a new link to send the file to. Returns whether the content has
     * arrived and is hashed.
     */
    send: async (id: string, target: Schemas['AssetUpload'] | undefined, file: File): Promise<boolean> =>
      (await attempt(file, 'sending', async (signal) => {
        await uploadFile(client, { id, target, file, signal, put: putFile, onStep: change });
        setProgress(idle);
        return true;
      })) ?? false,
  };
}

interface Props {
  upload: ReturnType<typeof useUpload>;
  /** The name of the asset whose content is uploaded, or a link to the asset. Undefined if the user cannot upload to it again. */
  asset?: ReactNode;
  retry?: (() => void) | undefined;
}

/** Shows how far the upload of a file is. */
export function UploadProgress({ upload, asset, retry }: Props) {
  const { state, sent, file, problem, cancel } = upload;
  if (state === 'idle' || !file) return null;
  if (state === 'failed') return <ProblemAlert problem={problem} retry={retry} />;
  if (state === 'unread') return <Alert type="info" header="The hashing was cancelled. Nothing of the file was sent." />;
  if (state === 'cancelled') {
    return (
      <Alert type="info" header="The upload was cancelled">
        No content is kept, unless the whole file had already arrived.
        {asset && <> The asset {asset} stays: upload again, or delete it.</>}
      </Alert>
    );
  }
  const { label, description } = words[state];
  return (
    <SpaceBetween size="xs">
      <ProgressBar
        label={label(file.name)}
        description={description}
        value={file.size === 0 ? 100 : (100 * sent) / file.size}
        additionalInfo={`${sizeText(sent)} of ${sizeText(file.size)}`}
      />
      {state !== 'hashing' && (
        <Button formAction="none" onClick={cancel}>
          {state === 'reading' ? 'Cancel the hashing' : 'Cancel the upload'}
        </Button>
      )}
    </SpaceBetween>
  );
}

interface FormProps {
  label?: string;
  description: string;
  submit: string;
  /** The name of the asset whose content is uploaded. Undefined if the user cannot upload to it again. */
  asset?: string;
  /** Returns the asset that takes the file, with the link to send it to if there is one. Undefined to send nothing. */
  begin: (file: File, hash: Hasher) => Promise<Pick<Schemas['Asset'], 'id' | 'upload'> | undefined>;
  notice: string;
  reload: () => void;
}

type Hasher = ReturnType<typeof useUpload>['hash'];

/** Shows a form that uploads one file: which, how far it is, and why it failed. Afterwards tells the user, and loads again what is shown. */
export function UploadForm({ label, description, submit, asset, begin, notice, reload }: FormProps) {
  const [file, setFile] = useState<File>();
  const upload = useUpload();
  const { notify } = useFrame();
  const fault = fileFault(file);
  useUnsavedWork(file && (upload.hasArrived ? 'open' : 'form'));
  const send = useAction(async () => {
    const target = file && (await begin(file, upload.hash));
    if (!target || !(await upload.send(target.id, target.upload, file))) return;
    setFile(undefined);
    notify(notice);
    reload();
  });
  const maySend = file !== undefined && fault === undefined;
  const run = () => void send.run();
  return (
    <SpaceBetween size="m">
      <FormField label={label} description={description}>
        <FileUpload
          value={file ? [file] : []}
          onChange={({ detail }) => setFile(detail.value[0])}
          fileErrors={[fault ?? null]}
          showFileSize
          i18nStrings={{ formatFileSize: sizeText }}
        />
      </FormField>
      <UploadProgress
        upload={upload}
        asset={asset}
        retry={upload.problem instanceof OtherContent ? reload : maySend ? run : undefined}
      />
      <ProblemAlert problem={send.problem} />
      <Button variant="primary" disabled={!maySend} loading={send.isRunning} onClick={run}>
        {submit}
      </Button>
    </SpaceBetween>
  );
}

const words = {
  reading: { label: (file: string) => `Hashing ${file}`, description: 'Keep this page open.' },
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

const longestSilenceInMilliseconds = 60_000;

/**
 * Sends a file with a presigned request, straight to storage. Uses XMLHttpRequest, because `fetch` cannot tell the progress of a request.
 * @throws ServiceProblem `unreachable` if the connection breaks, or is silent for a minute; Error if the file can no longer be read; the
 * signal's reason
 */
const putFile: PutFile = ({ method, url, headers }, file, { signal, onProgress }) => {
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
};
