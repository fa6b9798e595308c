import { randomUUID } from 'node:crypto';
import type { Call } from './ready-computation.ts';

/** Repeats a call that answers 503, as clients should: the service may be busy. A key keeps a repeated change one change. */
export function repeating(call: Call): Call {
  return async (method, path, body, more = {}) => {
    const headers = { 'idempotency-key': randomUUID(), ...more };
    let answer = await call(method, path, body, headers);
    while (answer.status === 503) answer = await call(method, path, body, headers);
    return answer;
  };
}
