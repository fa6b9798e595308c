import { verifiedAddressIn } from '../http/caller.ts';
import { environment } from '../runtime/environment.ts';
import { conflict, ServiceError } from '../runtime/errors.ts';

const longestAnswerInMilliseconds = 2_000;
const mostCharacters = 64 * 1024;

/**
 * Asks the issuer of a token, at its userinfo endpoint, for the verified address of the user (OpenID Connect Core 1.0, section 5.3).
 * @param authorization the header of the user's request
 * @throws ServiceError `conflict` if there is none; `unavailable` if the issuer does not answer
 */
export async function askForAddress(userId: string, authorization: string): Promise<string> {
  const { ISSUER_URL } = environment();
  const found = ISSUER_URL === '' ? undefined : verifiedAddressIn(await userinfo(ISSUER_URL, userId, authorization));
  if (found !== undefined) return found;
  const detail =
    'Neither the token nor the userinfo of its issuer has a verified `email`. Sign in with the scopes `openid email`.';
  throw conflict('no_verified_address', detail);
}

async function userinfo(issuer: string, userId: string, authorization: string): Promise<unknown> {
  const discovered = await getJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const { userinfo_endpoint } = (discovered ?? {}) as { userinfo_endpoint?: unknown };
  if (typeof userinfo_endpoint !== 'string' || !hasSecureScheme(userinfo_endpoint, issuer)) return undefined;
  const claims = (await getJson(userinfo_endpoint, { authorization })) as { sub?: unknown } | undefined;
  return claims?.sub === userId ? claims : undefined;
}

/** Says whether a token may be sent to an address: never with less protection than the issuer itself has. */
function hasSecureScheme(address: string, issuer: string): boolean {
  return address.startsWith('https://') || (address.startsWith('http://') && issuer.startsWith('http://'));
}

/** Reads JSON from the issuer. Returns undefined if the issuer refuses or sends anything else. @throws ServiceError `unavailable` */
async function getJson(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const signal = AbortSignal.timeout(longestAnswerInMilliseconds);
  const answer = await fetch(url, { headers, signal, redirect: 'error' })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch((cause: unknown) => {
      throw new ServiceError('unavailable', 'The issuer of the token does not answer.', {}, cause);
    });
  if (answer.status >= 500 || answer.status === 429) {
    throw new ServiceError('unavailable', 'The issuer of the token does not answer.', {}, new Error(`Status ${answer.status}`));
  }
  if (answer.status !== 200 || answer.text.length > mostCharacters) return undefined;
  try {
    const parsed: unknown = JSON.parse(answer.text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
