import { ServiceProblem } from '../../client/index.ts';

export interface ProblemText {
  title: string;
  detail: string;
  /** Places and missing items, one sentence each. */
  points: string[];
  requestId: string | undefined;
}

const titles: Partial<Record<ServiceProblem['code'], string>> = {
  invalid_request: 'The request is not valid',
  unauthenticated: 'You are not signed in',
  forbidden: 'You may not do this',
  not_found: 'This does not exist',
  conflict: 'This is not possible now',
  precondition_failed: 'Someone else has changed this meanwhile',
  too_large: 'This is too large',
  incomplete: 'Something is missing',
  too_many_requests: 'Too many requests',
  unavailable: 'The service is busy',
  unreachable: 'The service does not answer',
};

/** Returns what a user reads about an error. */
export function problemText(error: unknown): ProblemText {
  if (!(error instanceof ServiceProblem)) {
    const detail = error instanceof Error ? error.message : String(error);
    return { title: 'Something went wrong', detail, points: [], requestId: undefined };
  }
  const { keys = [], hashes = [], info = [] } = error.missing_items ?? {};
  return {
    title: titles[error.code] ?? 'Something went wrong',
    detail: error.detail,
    points: [
      ...error.errors.map(({ pointer, detail }) => `${pointer || 'The body'}: ${detail}`),
      ...missingSentences({ keys, hashes, info }),
    ],
    requestId: error.requestId,
  };
}

/** Returns what a dry run misses, one sentence each. */
export function missingSentences(missing: { keys: string[]; hashes: string[]; info: string[] }): string[] {
  return [
    ...missing.keys.map((user) => `Public key of ${user}`),
    ...missing.hashes.map((file) => `Content of ${file}`),
    ...missing.info,
  ];
}
