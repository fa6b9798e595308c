import {
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  ResponseBodyError,
} from 'oauth4webapi';
import { pause } from '../pause.ts';
import { ServiceProblem } from '../service-problem.ts';
import { type IssuerOptions, type OpenIssuer, openIssuer } from './issuer.ts';
import { asProblem } from './token-problem.ts';
import { type TokenSet, tokenSetOf } from './token-set.ts';

/** What a user does on another device. */
export interface DeviceCode {
  user_code: string;
  verification_uri: string;
  /** The same page, with the code filled in. */
  verification_uri_complete?: string | undefined;
  /** In seconds. */
  expires_in: number;
}

export interface DeviceSignInOptions extends IssuerOptions {
  /** Shows the code to the user. */
  show: (code: DeviceCode) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Signs a user in who opens a page on another device and types a code there (RFC 8628).
 * @throws ServiceProblem if the issuer cannot do that, if the user refused, or if the code expired; the signal's reason
 */
export async function deviceSignIn(given: DeviceSignInOptions): Promise<TokenSet> {
  const { signal, scope = 'openid' } = given;
  const request = `POST ${given.issuer}`;
  const issuer = await openIssuer(given, signal);
  const { server, client, authentication, options } = issuer;
  if (server.device_authorization_endpoint === undefined) {
    const detail = `The issuer ${given.issuer} does not support sign-in with a code. Sign in with a browser.`;
    throw new ServiceProblem({ status: 0, code: 'unexpected', detail, request });
  }
  const code = await asProblem(request, signal, async () => {
    const parameters = { ...given.parameters, scope };
    const response = await deviceAuthorizationRequest(server, client, authentication, parameters, options);
    return await processDeviceAuthorizationResponse(server, client, response);
  });
  const { user_code, verification_uri, verification_uri_complete, expires_in, interval = 5 } = code;
  given.show({ user_code, verification_uri, verification_uri_complete, expires_in });
  const expiresAt = Date.now() + expires_in * 1_000;
  for (let pauseInSeconds = interval; Date.now() < expiresAt;) {
    await pause(pauseInSeconds * 1_000, signal);
    const tokens = await asProblem(request, signal, () => askOnce(issuer, code.device_code)).catch(pendingWhileAway);
    if (tokens === 'slow_down') pauseInSeconds += 5;
    else if (tokens !== 'authorization_pending') return tokens;
  }
  throw new ServiceProblem({ status: 401, code: 'unauthenticated', detail: 'The code has expired.', request });
}

/** An issuer that does not answer once may do so the next time: the user has perhaps typed the code already. */
function pendingWhileAway(error: unknown): 'authorization_pending' {
  const isAway = error instanceof ServiceProblem && ['unreachable', 'unavailable', 'too_many_requests'].includes(error.code);
  if (isAway) return 'authorization_pending';
  throw error;
}

/** @returns the tokens, or why there are none yet */
async function askOnce(
  { server, client, authentication, options }: OpenIssuer,
  code: string,
): Promise<TokenSet | 'authorization_pending' | 'slow_down'> {
  try {
    const response = await deviceCodeGrantRequest(server, client, authentication, code, options);
    return tokenSetOf(await processDeviceCodeResponse(server, client, response));
  } catch (error) {
    if (error instanceof ResponseBodyError && (error.error === 'authorization_pending' || error.error === 'slow_down')) {
      return error.error;
    }
    throw error;
  }
}
