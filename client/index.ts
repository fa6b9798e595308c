/** The entry `computation-management-client`, for browsers and Node. */
export type { Schemas } from './api-types.ts';
export { type Client, type ClientOptions, createClient } from './create-client.ts';
export type { Arguments, CallOptions, Data, Operation } from './operation.ts';
export { type Item, items, type ListOperation, type Page, page, pages } from './pages.ts';
export type { RetryOptions, Token, TokenSource } from './retrying-fetch.ts';
export { type ProblemCode, ServiceProblem } from './service-problem.ts';
export { watchEvents, type WatchOptions } from './watch-events.ts';
export { isEndOfRun, waitForRun, watchRun, type WatchRunOptions } from './watch-run.ts';
export { clientCredentials } from './tokens/client-credentials.ts';
export { type DeviceCode, deviceSignIn, type DeviceSignInOptions } from './tokens/device-sign-in.ts';
export type { IssuerOptions } from './tokens/issuer.ts';
export { issueLocalToken, localToken, type LocalTokenOptions } from './tokens/local-token.ts';
export { readClaims } from './tokens/read-claims.ts';
export { refreshTokens, signedIn } from './tokens/refresh-tokens.ts';
export { beginSignIn, completeSignIn, type PendingSignIn, type SignInOptions } from './tokens/sign-in.ts';
export { signOutPage, type SignOutOptions } from './tokens/sign-out.ts';
export type { TokenSet } from './tokens/token-set.ts';
