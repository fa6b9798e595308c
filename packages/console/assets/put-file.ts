import { type Schemas, ServiceProblem, type StorageResponse } from 'computation-management-client';
import { expectReadable } from './expect-readable.ts';

interface Options {
  signal: AbortSignal;
  /** Called with the number of bytes that have been sent. */
  onProgress: (sent: number) => void;
}

const longestSilenceInMilliseconds = 60_000;

/**
 * Sends a file with a presigned request, straight to storage. `fetch` cannot tell the progress of a request.
 * @throws ServiceProblem `unreachable` if the connection breaks, or is silent for a minute; Error if the file can no longer be read; the
 * signal's reason
 */
export function putFile(
  { method, url, headers }: Schemas['AssetUpload'],
  file: File,
  { signal, onProgress }: Options,
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
