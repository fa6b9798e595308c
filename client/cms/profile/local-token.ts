import * as v from 'valibot';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';

export const localRoles = [
  'administrator',
  'creator',
  'editor',
  'runner',
  'viewer',
  'algo_provider',
  'dataset_provider',
  'result_consumer',
] as const;

const answerSchema = v.object({ access_token: v.string() });
const refusalSchema = v.object({ message: v.string() });

/** Asks the service of `npm start` for a token. It gives one to whoever is on the same machine. @throws CmsError */
export async function localToken(
  server: string,
  { user, domain, roles }: { user: string; domain: string; roles: readonly string[] },
): Promise<string> {
  const groups = roles.map((role) => `${domain}:${role}`);
  const response = await fetch(`${server}/local/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub: user, groups }),
  }).catch((cause: unknown) => {
    throw new CmsError(`No service answers at ${server}.`, { next: 'npm start', exitCode: exitCodes.unavailable, cause });
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && v.is(answerSchema, body)) return body.access_token;
  if (response.status === 400 && v.is(refusalSchema, body)) throw new CmsError(body.message, { exitCode: exitCodes.usage });
  throw new CmsError(`${server} is not a service of "npm start": it gives no tokens.`, {
    next: `cms login --server ${server} --issuer URL --client-id ID --domain ${domain}`,
    exitCode: exitCodes.notLoggedIn,
  });
}
