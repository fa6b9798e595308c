export interface Answer {
  status: number;
  /** Empty if the answer is no JSON. */
  body: Record<string, unknown>;
  text: string;
  milliseconds: number;
}

/** Calls the API in one domain, without repeats: every answer counts. */
export interface AcceptClient {
  call: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** The number of calls so far. */
  calls: () => number;
}

const longestInMilliseconds = 40_000;

/** Returns a client. A request without an answer has the status 0. */
export function acceptClient({ url, domain, token }: { url: string; domain: string; token: string }): AcceptClient {
  let calls = 0;
  return {
    calls: () => calls,
    call: async (method, path, body) => {
      calls += 1;
      const start = performance.now();
      const { status, text } = await fetch(`${url}/${domain}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(longestInMilliseconds),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).then(
        async (response) => ({ status: response.status, text: await response.text() }),
        () => ({ status: 0, text: '' }),
      );
      return { status, body: parsed(text), text, milliseconds: performance.now() - start };
    },
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
