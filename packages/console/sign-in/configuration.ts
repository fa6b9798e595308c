/** What a deployment tells its console, in `/console/config.json`. */
export interface Configuration {
  /** The base URL of the API, without a slash at its end. */
  api: string;
  /** The OpenID Connect issuer of the API's tokens. */
  issuer: string;
  clientId: string;
  /** The scopes to ask for, separated by spaces. */
  scopes: string;
  /** The claim of the access token that contains strings `<domainID>:<role>`. */
  membershipClaim: string;
  /** A CVM that answers without being registered. Only where CVMs are simulated. */
  exampleCvm?: string;
}

let read: Promise<Configuration> | undefined;

/** Reads the configuration once. @throws Error if the server has none */
export function configuration(): Promise<Configuration> {
  read ??= readConfiguration();
  return read;
}

/** Reads the configuration from the server. @throws Error if it has none, or does not answer */
export async function readConfiguration(): Promise<Configuration> {
  const response = await fetch('/console/config.json', { cache: 'no-store' });
  if (!response.ok) throw new Error(`The console has no configuration: config.json answered ${response.status}.`);
  return (await response.json()) as Configuration;
}
