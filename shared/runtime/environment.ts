/**
 * Returns the environment variables of the service. Each variable is checked when it is read, so a function needs only those that
 * it uses.
 * @throws Error, when a variable is read, that names it if it is missing or invalid
 */
export function environment(): Environment {
  return variables;
}

export type Environment = typeof variables;
export type VariableName = keyof Environment;

const variables = {
  get STAGE() {
    return text('STAGE');
  },
  get SERVICE_VERSION() {
    return text('SERVICE_VERSION');
  },
  get LOG_LEVEL() {
    return text('LOG_LEVEL');
  },
  /** The namespace of the service's metrics in CloudWatch. Empty: no metrics are written. */
  get METRICS_NAMESPACE() {
    return given('METRICS_NAMESPACE');
  },
  get TABLE_NAME() {
    return text('TABLE_NAME');
  },
  get BUCKET_NAME() {
    return text('BUCKET_NAME');
  },
  get STATE_MACHINE_ARN() {
    return text('STATE_MACHINE_ARN');
  },
  get SIGNING_KEY_ARN() {
    return text('SIGNING_KEY_ARN');
  },
  get SEALING_KEY_ARN() {
    return text('SEALING_KEY_ARN');
  },
  /** The ARNs of the keys in KMS whose public keys the service publishes to verify evidence of runs, separated by commas. */
  get PUBLISHED_KEY_ARNS() {
    return text('PUBLISHED_KEY_ARNS');
  },
  /** The URL of AWS Lambda that calls the function `maintenance/purge`. */
  get PURGE_URL() {
    return text('PURGE_URL');
  },
  /** The name of the claim in access tokens that has the memberships of the user. */
  get MEMBERSHIP_CLAIM() {
    return text('MEMBERSHIP_CLAIM');
  },
  /** The changes per second that a domain may make. Empty: no limit. */
  get DOMAIN_CHANGES_PER_SECOND() {
    return limit('DOMAIN_CHANGES_PER_SECOND');
  },
  /** The changes that a domain may make at once. Empty: no limit. */
  get DOMAIN_BURST() {
    return limit('DOMAIN_BURST');
  },
  get ACCEPT_TIMEOUT_SECONDS() {
    return seconds('ACCEPT_TIMEOUT_SECONDS');
  },
  get STOP_TIMEOUT_SECONDS() {
    return seconds('STOP_TIMEOUT_SECONDS');
  },
  get GATEWAY_PORT() {
    return wholeNumber('GATEWAY_PORT', /^[1-9][0-9]{0,4}$/, 'a port');
  },
  /** The TLS identity of the gateway: JSON with `ca`, `certificate` and `key`, each in PEM. */
  get GATEWAY_TLS() {
    return text('GATEWAY_TLS');
  },
  get GATEWAY_HEALTH_PORT() {
    return wholeNumber('GATEWAY_HEALTH_PORT', /^[1-9][0-9]{0,4}$/, 'a port');
  },
  /** The hours after which a gateway that a deployment has replaced may go, even if attested connections are left. */
  get DRAIN_HOURS() {
    return count('DRAIN_HOURS');
  },
  /** The URL of Elastic Load Balancing in the Region, and the ARN of the target group that the tasks of the gateway are in. */
  get BALANCER_URL() {
    return text('BALANCER_URL');
  },
  get TARGET_GROUP_ARN() {
    return text('TARGET_GROUP_ARN');
  },
  /** The URL at which ECS describes a task to the containers in it. */
  get ECS_CONTAINER_METADATA_URI_V4() {
    return text('ECS_CONTAINER_METADATA_URI_V4');
  },
  /** The URL at which ECS takes requests of the containers in a task. Undefined outside of ECS. */
  get ECS_AGENT_URI() {
    return optional('ECS_AGENT_URI');
  },
  /** The names of the gateway in its certificate, separated by commas. */
  get GATEWAY_HOSTS() {
    return text('GATEWAY_HOSTS');
  },
  get AUTHORITY_KEY_ARN() {
    return text('AUTHORITY_KEY_ARN');
  },
  get TLS_SECRET_ARN() {
    return text('TLS_SECRET_ARN');
  },
  /** The settings of the canary as JSON (functions/operations/canary/canary-settings.ts). */
  get CANARY() {
    return text('CANARY');
  },
  /** The most requests of an endpoint that are held at the same time. */
  get WAITS_PER_STAGE() {
    return count('WAITS_PER_STAGE');
  },
  /** The most requests of an endpoint that are held in one domain at the same time. */
  get WAITS_PER_DOMAIN() {
    return count('WAITS_PER_DOMAIN');
  },
  get AWS_REGION() {
    return text('AWS_REGION');
  },
} as const;

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
