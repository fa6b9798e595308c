import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { untilTestEnds } from './patience.ts';
import type { Call } from './ready-computation.ts';

/** Repeats a call that answers 503, as clients should: the service may be busy. A key keeps a repeated change one change. */
export function repeating(call: Call): Call {
  return async (method, path, body, more = {}) => {
    const headers = { 'idempotency-key': randomUUID(), ...more };
    return await vi.waitFor(async () => {
      const answer = await call(method, path, body, headers);
      if (answer.status === 503) throw new Error(`${method} ${path} answered 503: ${JSON.stringify(answer.body)}`);
      return answer;
    }, untilTestEnds);
  };
}
