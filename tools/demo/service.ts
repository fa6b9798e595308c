import { issueLocalToken, ServiceProblem } from 'computation-management-client';
import { startStack } from '../../local/stack.ts';

/** The service that the demo uses. */
export interface Service {
  baseUrl: string;
  token: (user: string, groups: string[]) => Promise<string>;
  stop: () => Promise<void>;
}

/** Starts a service, or uses the one at `url`. That one gets `token` for all users, or issues a token for each. */
export async function openService({ url, token }: { url: string | undefined; token: string | undefined }): Promise<Service> {
  if (url === undefined) return await startStack({ port: 0, simulator: true });
  const baseUrl = url.replace(/\/+$/, '');
  return {
    baseUrl,
    token: async (user, groups) => token ?? (await issueLocalToken({ baseUrl, sub: user, groups }).catch(adviseToken)),
    stop: async () => undefined,
  };
}

function adviseToken(error: unknown): never {
  if (!(error instanceof ServiceProblem) || error.code !== 'unexpected') throw error;
  throw new Error(`${error.detail} Pass a token with --token.`, { cause: error });
}
