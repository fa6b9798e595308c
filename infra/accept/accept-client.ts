import {
  type Arguments,
  createClient,
  type Data,
  type Operation,
  type OptionalIfEmpty,
  ServiceProblem,
} from 'computation-management-client';

export interface Answer<Body> {
  /** 0 if no answer came. */
  status: number;
  /** Undefined if the call failed, or its answer has none. */
  body: Body | undefined;
  milliseconds: number;
}

/** Calls the API in one domain, without repeats: every answer counts. */
export interface AcceptClient {
  call: <O extends Operation>(operation: O, ...given: OptionalIfEmpty<Arguments<O>>) => Promise<Answer<Data<O>>>;
}

const longestInMilliseconds = 40_000;

export function acceptClient({ url, domain, token }: { url: string; domain: string; token: string }): AcceptClient {
  const client = createClient({
    baseUrl: url,
    domain,
    token,
    retry: { attempts: 1, timeoutInMilliseconds: longestInMilliseconds },
  });
  return {
    call: async (operation, ...given) => {
      const start = performance.now();
      const { status, body } = await client.call(operation, ...given).then(
        ({ data, response }) => ({ status: response.status, body: data }),
        (error: unknown) => {
          if (error instanceof ServiceProblem) return { status: error.status, body: undefined };
          throw error;
        },
      );
      return { status, body, milliseconds: performance.now() - start };
    },
  };
}
