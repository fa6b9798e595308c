import { ServiceProblem, type Schemas } from '../../client/index.ts';

interface Options {
  signal: AbortSignal;
  /** Called with the number of bytes that have been sent. */
  onProgress: (sent: number) => void;
}

/**
 * Sends a file with a presigned request, straight to storage. `fetch` cannot tell the progress of a request.
 * @throws ServiceProblem if storage refuses or the connection breaks; the signal's reason
 */
export function sendContent(
  { method, url, headers }: Schemas['AssetUpload'],
  file: File,
  { signal, onProgress }: Options,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (status: number, detail: string) =>
      reject(
        new ServiceProblem({ status, code: status === 0 ? 'unreachable' : 'unexpected', detail, request: `${method} storage` }),
      );
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else fail(request.status, `Storage refused the file with status ${request.status}. Try again: the link may have expired.`);
    });
    request.addEventListener('error', () => fail(0, 'The connection to storage broke. Nothing of the file is kept. Try again.'));
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason as Error);
    });
    request.send(file);
  });
}
