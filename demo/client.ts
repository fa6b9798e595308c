/** Calls the service as one user. */
export interface Client {
  /** @throws Error with the request and the response if the request failed */
  call: <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>;
}

export function clientOf(baseUrl: string, domain: string, token: string): Client {
  return {
    call: async <Answer>(method: string, path: string, body?: unknown) => {
      const response = await fetch(`${baseUrl}/${domain}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} /${domain}${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as Answer;
    },
  };
}
