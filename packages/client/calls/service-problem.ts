import type { Schemas } from '../generated/api-types.ts';

type Problem = Schemas['Problem'];

/**
 * The code of a problem: one of the service's error codes, or one of the client's own. `unreachable`: no answer came.
 * `unexpected`: the answer is not one of the service.
 */
export type ProblemCode = Problem['code'] | 'unreachable' | 'unexpected';

export interface ProblemFields extends Partial<
  Pick<Problem, 'errors' | 'reason' | 'run_id' | 'manifest_digest' | 'configuration_digest' | 'missing_items'>
> {
  /** The HTTP status of the answer. 0 if no answer came. */
  status: number;
  code: ProblemCode;
  detail: string;
  requestId?: string | undefined;
  /** The method and path of the request that failed, such as `POST /d1/computations`. */
  request: string;
  retryAfterInMilliseconds?: number;
}

export class ServiceProblem extends Error {
  override readonly name = 'ServiceProblem';
  /** The HTTP status of the answer. 0 if no answer came. */
  readonly status: number;
  readonly code: ProblemCode;
  /** The description of the problem for users. Programs should not compare it, because the text may change. */
  readonly detail: string;
  /** The places in the request that are wrong, for a problem with the status 400. Empty for others. */
  readonly errors: NonNullable<Problem['errors']>;
  /** The kind of conflict, for a problem with the status 409. */
  readonly reason: Problem['reason'];
  /** The identifier of the run that conflicts with the request, for a problem with the status 409. */
  readonly run_id: string | undefined;
  /**
   * The current digest of the computation's manifest, for a problem 409 `stale_digest`. `configuration_digest` is that of its
   * configuration.
   */
  readonly manifest_digest: string | undefined;
  readonly configuration_digest: string | undefined;
  /** The parts that the computation still lacks, for a problem with the status 422. */
  readonly missing_items: Problem['missing_items'];
  /** The identifier of the request in the operator's logs. */
  readonly requestId: string | undefined;
  readonly request: string;
  /** The pause that the service asks for before another attempt (`Retry-After`), in milliseconds. 0 if it asks for none. */
  readonly retryAfterInMilliseconds: number;

  constructor(fields: ProblemFields, cause?: unknown) {
    super(fields.detail, { cause });
    this.status = fields.status;
    this.code = fields.code;
    this.detail = fields.detail;
    this.errors = fields.errors ?? [];
    this.reason = fields.reason;
    this.run_id = fields.run_id;
    this.manifest_digest = fields.manifest_digest;
    this.configuration_digest = fields.configuration_digest;
    this.missing_items = fields.missing_items;
    this.requestId = fields.requestId;
    this.request = fields.request;
    this.retryAfterInMilliseconds = fields.retryAfterInMilliseconds ?? 0;
  }
}

/**
 * Returns whether an error is a problem that may pass by itself: no answer, 429, 5xx, or a success that is not from the service,
 * as from a network that wants a sign-in first.
 */
export function isTransient(error: unknown): error is ServiceProblem {
  if (!(error instanceof ServiceProblem)) return false;
  const { status, code } = error;
  return status === 0 || status === 429 || status >= 500 || (code === 'unexpected' && status < 300);
}

/**
 * Reads the problem in a failed response of the service, or of the API gateway in front of it.
 * @param request method and path of the request
 */
export async function problemOf(response: Response, request: string): Promise<ServiceProblem> {
  const text = await response.text();
  const body = parsed(text);
  const requestId =
    body.request_id ?? response.headers.get('x-request-id') ?? response.headers.get('apigw-requestid') ?? undefined;
  const { status } = response;
  const retryAfterInMilliseconds = pauseIn(response.headers.get('retry-after'));
  const answered = { status, requestId, request, retryAfterInMilliseconds };
  if (status === 431) return new ServiceProblem({ ...answered, code: 'too_large', detail: tokenTooLarge });
  if (body.code !== undefined) {
    return new ServiceProblem({ ...body, ...answered, code: body.code, detail: body.detail ?? body.code });
  }
  const code = body.message === undefined ? 'unexpected' : (codesOfGateway[status] ?? 'unexpected');
  const content = text === '' ? '.' : `: ${text.slice(0, 200)}`;
  const detail = body.message ?? `The answer has the status ${status} and is not the service's${content}`;
  return new ServiceProblem({ ...answered, code, detail });
}

/**
 * Returns the pause that a `Retry-After` header asks for, in milliseconds. The header has seconds or a date. 0 if there is none.
 */
function pauseIn(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const milliseconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
}

const tokenTooLarge =
  'The headers of the request are too large: the token has too many memberships. Sign in as a user or with a scope that has fewer.';

/**
 * The problem codes for answers that the API gateway gives without calling the service, by HTTP status. 404 is not among them,
 * because the service has every path that the client calls.
 */
const codesOfGateway: Record<number, ProblemCode> = {
  400: 'invalid_request',
  401: 'unauthenticated',
  403: 'forbidden',
  413: 'too_large',
  429: 'too_many_requests',
  500: 'internal',
  503: 'unavailable',
};

function parsed(text: string): Partial<Problem> & { message?: string } {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

type Place = ServiceProblem['errors'][number];

export function placeText({ pointer, detail }: Place): string {
  return `${pointer || 'The body'}: ${detail}`;
}

/**
 * Returns the wrong place of the request that the detail of a problem names already, so that the place need not be shown again.
 * Undefined if the detail names none.
 */
export function placeInDetail({ detail, errors }: ServiceProblem): Place | undefined {
  return errors.find((place) => [place.detail, placeText(place)].includes(detail));
}

/**
 * Says why a request got no answer, from the error of `fetch`: the error's own message `fetch failed` says nothing, but its cause
 * does.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  if (lacksTls(cause)) return 'the server does not use https';
  if (cause.message !== '') return cause.message;
  // A host with several addresses fails with an error for each, and without a message.
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
  return first === undefined ? String(cause) : causeOf(first);
}

/**
 * Returns whether a request failed because the server does not use https. Known only in Node, where OpenSSL reports a wrong
 * version. Browsers do not say.
 */
export function lacksTls(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ERR_SSL_WRONG_VERSION_NUMBER') || lacksTls(error.cause);
}
