import { startStack } from '../infra/local/stack.ts';

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
    token: async (user, groups) => token ?? (await askForToken(baseUrl, user, groups)),
    stop: async () => undefined,
  };
}

async function askForToken(baseUrl: string, sub: string, groups: string[]): Promise<string> {
  const response = await fetch(`${baseUrl}/local/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub, groups }),
  }).catch(() => undefined);
  if (!response) throw new Error(`Nothing answers at ${baseUrl}.`);
  const { access_token } = (await response.json().catch(() => ({}))) as { access_token?: string };
  if (access_token === undefined) throw new Error(`${baseUrl} gives no tokens; pass one with --token.`);
  return access_token;
}
