import { clientCredentialsGrantRequest, processClientCredentialsResponse } from 'oauth4webapi';
import type { TokenSource } from '../retrying-fetch.ts';
import { type IssuerOptions, openIssuer } from './issuer.ts';
import { keptToken } from './kept-token.ts';
import { asProblem } from './token-problem.ts';
import { tokenSetOf } from './token-set.ts';

/** Returns the tokens of a program that signs in as itself (OAuth 2.0 client credentials), for `createClient`. */
export function clientCredentials(given: IssuerOptions & { clientSecret: string }): TokenSource {
  const parameters = { ...given.parameters, ...(given.scope === undefined ? {} : { scope: given.scope }) };
  return keptToken(async () => {
    const { server, client, authentication, options } = await openIssuer(given);
    return await asProblem(`POST ${given.issuer}`, undefined, async () => {
      const response = await clientCredentialsGrantRequest(server, client, authentication, parameters, options);
      return tokenSetOf(await processClientCredentialsResponse(server, client, response));
    });
  });
}
