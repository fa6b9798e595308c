/**
 * Returns the environment variables of the service. Each variable is checked when it is read, so a function needs only those that
 * it uses.
 * @throws Error, when a variable is read, that names it if it is missing or invalid
 */
export function environment(): Environment {
  return variables;
}

export type VariableName = keyof typeof readers;
export type Environment = { readonly [Name in VariableName]: ReturnType<(typeof readers)[Name]> };

const readers = {
  STAGE: () => text('STAGE'),
  SERVICE_VERSION: () => text('SERVICE_VERSION'),
  LOG_LEVEL: () => text('LOG_LEVEL'),
  /** The namespace of the service's metrics in CloudWatch. Empty: no metrics are written. */
  METRICS_NAMESPACE: () => given('METRICS_NAMESPACE'),
  TABLE_NAME: () => text('TABLE_NAME'),
  BUCKET_NAME: () => text('BUCKET_NAME'),
  STATE_MACHINE_ARN: () => text('STATE_MACHINE_ARN'),
  SIGNING_KEY_ARN: () => text('SIGNING_KEY_ARN'),
  SEALING_KEY_ARN: () => text('SEALING_KEY_ARN'),
  /** The bucket with the tiles and the checkpoint of the stage's log. */
  LOG_BUCKET_NAME: () => text('LOG_BUCKET_NAME'),
  /** The ARN of the key in KMS that signs the checkpoints of the stage's log. */
  LOG_KEY_ARN: () => text('LOG_KEY_ARN'),
  /** The witnesses of the stage's log: JSON, a list of `{url, vkey}`. */
  LOG_WITNESSES: () => text('LOG_WITNESSES'),
  /** The ARNs of the keys in KMS whose public keys the service publishes to verify evidence of runs, separated by commas. */
  PUBLISHED_KEY_ARNS: () => text('PUBLISHED_KEY_ARNS'),
  /** The settings of mail: JSON (shared/notifications/mailer.ts). Empty: the stage sends no mail. */
  MAIL: () => given('MAIL'),
  /** The issuer of tokens. Empty: nobody can be asked about users. */
  ISSUER_URL: () => given('ISSUER_URL'),
  /** The days after its release for which the result of a run is kept. */
  RESULT_DAYS: () => count('RESULT_DAYS'),
  /** The URL of AWS Lambda that calls the function `maintenance/purge`. */
  PURGE_URL: () => text('PURGE_URL'),
  /** The name of the claim in access tokens that has the memberships of the user. */
  MEMBERSHIP_CLAIM: () => text('MEMBERSHIP_CLAIM'),
  /** The changes per second that a domain may make. Empty: no limit. */
  DOMAIN_CHANGES_PER_SECOND: () => limit('DOMAIN_CHANGES_PER_SECOND'),
  /** The changes that a domain may make at once. Empty: no limit. */
  DOMAIN_BURST: () => limit('DOMAIN_BURST'),
  ACCEPT_TIMEOUT_SECONDS: () => seconds('ACCEPT_TIMEOUT_SECONDS'),
  STOP_TIMEOUT_SECONDS: () => seconds('STOP_TIMEOUT_SECONDS'),
  GATEWAY_PORT: () => wholeNumber('GATEWAY_PORT', /^[1-9][0-9]{0,4}$/, 'a port'),
  /** The TLS identity of the gateway: JSON with `ca`, `certificate` and `key`, each in PEM. */
  GATEWAY_TLS: () => text('GATEWAY_TLS'),
  GATEWAY_HEALTH_PORT: () => wholeNumber('GATEWAY_HEALTH_PORT', /^[1-9][0-9]{0,4}$/, 'a port'),
  /** The hours after which a gateway that a deployment has replaced may go, even if attested connections are left. */
  DRAIN_HOURS: () => count('DRAIN_HOURS'),
  /** The URL of Elastic Load Balancing in the Region, and the ARN of the target group that the tasks of the gateway are in. */
  BALANCER_URL: () => text('BALANCER_URL'),
  TARGET_GROUP_ARN: () => text('TARGET_GROUP_ARN'),
  /** The URL at which ECS describes a task to the containers in it. */
  ECS_CONTAINER_METADATA_URI_V4: () => text('ECS_CONTAINER_METADATA_URI_V4'),
  /** The URL at which ECS takes requests of the containers in a task. Undefined outside of ECS. */
  ECS_AGENT_URI: () => optional('ECS_AGENT_URI'),
  /** The names of the gateway in its certificate, separated by commas. */
  GATEWAY_HOSTS: () => text('GATEWAY_HOSTS'),
  AUTHORITY_KEY_ARN: () => text('AUTHORITY_KEY_ARN'),
  TLS_SECRET_ARN: () => text('TLS_SECRET_ARN'),
  /** The settings of the canary as JSON (functions/operations/canary/canary-settings.ts). */
  CANARY: () => text('CANARY'),
  /** The most requests of an endpoint that are held at the same time. */
  WAITS_PER_STAGE: () => count('WAITS_PER_STAGE'),
  /** The most requests of an endpoint that are held in one domain at the same time. */
  WAITS_PER_DOMAIN: () => count('WAITS_PER_DOMAIN'),
  AWS_REGION: () => text('AWS_REGION'),
};
const getters = Object.entries(readers).map(([name, get]) => [name, { get, enumerable: true }] as const);
const variables = Object.create(null, Object.fromEntries(getters)) as Environment;

function optional(name: string): string | undefined {
  return process.env[name];
}

function given(name: string): string {
  const value = optional(name);
  if (value === undefined) throw new Error(`The environment variable ${name} is missing.`);
  return value;
}

function text(name: string): string {
  const value = given(name);
  if (value === '') throw new Error(`The environment variable ${name} is empty.`);
  return value;
}

function seconds(name: string): number {
  return wholeNumber(name, /^[1-9][0-9]{0,7}$/, 'a whole number of seconds');
}

function limit(name: string): number | undefined {
  return given(name) === '' ? undefined : wholeNumber(name, /^[1-9][0-9]{0,7}$/, 'a whole number');
}

function count(name: string): number {
  return wholeNumber(name, /^(?:0|[1-9][0-9]{0,3})$/, 'a whole number from 0 to 9999');
}

function wholeNumber(name: string, form: RegExp, expected: string): number {
  const value = given(name);
  if (!form.test(value)) {
    throw new Error(`The environment variable ${name} is ${JSON.stringify(value)}; expected ${expected}.`);
  }
  return Number(value);
}

/** The time limits of a run. */
export interface RunTimes {
  /** The time in seconds until the CVM must accept the run. */
  acceptInSeconds: number;
  /** The longest time in seconds between two reports of the CVM. */
  silenceInSeconds: number;
  /** The longest time in seconds of the whole run after its acceptance. */
  runInSeconds: number;
  /** The time in seconds until the CVM must confirm a stop. */
  stopInSeconds: number;
}
