import type { Deadline } from '../deadline.ts';
import { ServiceError } from '../errors.ts';

export type Method = 'GET' | 'PUT' | 'DELETE';

/** Thrown if storage refused a request or did not respond. In the second case `cause` contains the reason. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly method: Method;
  /** The HTTP status of the response; undefined if there was none. */
  readonly status: number | undefined;
  /** S3's error code, such as `AccessDenied`; undefined if there was none. */
  readonly code: string | undefined;

  constructor(method: Method, answer: { status?: number; code?: string | undefined; cause?: unknown }) {
    const { status, code, cause } = answer;
    super(status === undefined ? `Storage did not answer ${method}.` : `Storage answered ${method} with ${status}.`, { cause });
    this.method = method;
    this.status = status;
    this.code = code;
  }
}

const attempts = 3;
/** Leaves time for a second attempt before the deadline of a request. */
const defaultTimeLimitInMilliseconds = 3_000;
/** Busy storage needs longer pauses than a conflict in the table: up to 240 ms, then up to 480 ms. */
const pausesBegin = 3;

/**
 * Sends a presigned request, up to three times before the deadline if storage is busy, down or silent. A refusal such as 403 is
 * not retried, because its cause is a missing permission or a wrong request. A missing object is a result: GET and DELETE return
 * a 404. Read the body of the response without a pause longer than the time limit. If storage stops sending it, reading throws
 * ServiceError `unavailable`.
 * @throws StorageError if storage refuses the request; ServiceError `unavailable` after the last attempt
 */
export async function requestStorage(
  url: string,
  init: { method: Method; headers?: Record<string, string>; body?: Uint8Array<ArrayBuffer> },
  deadline: Deadline,
  timeLimitInMilliseconds = defaultTimeLimitInMilliseconds,
): Promise<Response> {
  const attemptsEnd = deadline.next(deadline.remaining); // the shorter time for retries is for conflicts with others
  for (let attempt = 1; ; attempt++) {
    const answer = await send(url, init, timeLimitInMilliseconds, attemptsEnd.remaining);
    if (answer instanceof Response && isExpected(answer, init.method, attempt)) return answer;
    const failure = answer instanceof Response ? await refusal(init.method, answer) : answer;
    if (!isTransient(failure)) throw failure;
    if (attempt === attempts) throw unavailable(failure);
    if (!(await attemptsEnd.tryToPause(attempt + pausesBegin))) throw unavailable(failure);
  }
}

/** Sends one attempt. Its first answer must come before the deadline as well; each part of its body only within the limit. */
async function send(
  url: string,
  init: { method: Method },
  timeLimitInMilliseconds: number,
  deadlineInMilliseconds: number,
): Promise<Response | StorageError> {
  const silence = new AbortController();
  const after = (milliseconds: number) =>
    setTimeout(() => {
      silence.abort(new DOMException(`Storage was silent for ${milliseconds} ms.`, 'TimeoutError'));
    }, milliseconds);
  const timer = after(Math.min(timeLimitInMilliseconds, deadlineInMilliseconds));
  try {
    const response = await fetch(url, { ...init, signal: silence.signal });
    if (init.method === 'GET' && response.ok && response.body) {
      clearTimeout(timer);
      return new Response(ReadableStream.from(partsOf(response.body, after(timeLimitInMilliseconds))), response);
    }
    const text = await response.text(); // frees the connection for the next request
    clearTimeout(timer);
    return new Response(text || null, response);
  } catch (cause) {
    clearTimeout(timer);
    return new StorageError(init.method, { cause });
  }
}

/** Yields the parts of a body. Each part restarts the timer. */
async function* partsOf(body: AsyncIterable<Uint8Array>, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of body) {
      timer.refresh();
      yield part;
    }
  } catch (cause) {
    throw unavailable(new StorageError('GET', { cause }));
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(failure: StorageError): ServiceError {
  return new ServiceError('unavailable', 'A dependency of the service is busy or down. Try again in a moment.', {}, failure);
}

function isExpected({ ok, status }: Response, method: Method, attempt: number): boolean {
  // 412: an earlier attempt wrote the object and its response was lost, because the key is unique to this request.
  return ok || (status === 404 && method !== 'PUT') || (status === 412 && attempt > 1);
}

async function refusal(method: Method, response: Response): Promise<StorageError> {
  const [, code] = /<Code>(\w+)<\/Code>/.exec(await response.text()) ?? [];
  return new StorageError(method, { status: response.status, code });
}

const transientStatuses = new Set([408, 409, 429]);

/** Whether a retry may succeed. S3 answers 400 if a request arrives too slowly, 409 if another one is in progress. */
function isTransient({ status, code }: StorageError): boolean {
  return status === undefined || status >= 500 || transientStatuses.has(status) || code === 'RequestTimeout';
}
