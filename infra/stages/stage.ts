import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** The configuration of a deployment, such as a row of infra/stages/stages.ts. `stageWith` has the defaults. */
export interface Stage {
  /** The name of the stage, which is part of all names of resources. Lower-case letters and digits, up to 16 characters. */
  name: string;
  region: string;
  /** A name of your choice for the account. Stages of the same account and region share its concurrent executions. */
  account: string;
  /** The ARN of a symmetric KMS key in the region that encrypts the table and the content. Default: AWS's own keys. */
  dataKeyArn?: string;
  /** The ARN of a managed policy that bounds every role. Default: none. */
  permissionsBoundaryArn?: string;
  /** Tags of every resource, besides `service` and `stage`. */
  tags?: Readonly<Record<string, string>>;
  /** A public hosted zone of Route 53 in the account. The names of `domain`, `console.domain` and `gateway.hostName` get records in it. */
  hostedZone?: { id: string; name: string };
  /** The issuer of tokens. Default: the stage's own Cognito user pool, with groups `<domainID>:<role>`. */
  issuer?: Issuer;
  /** Tables, buckets and user pools that exist already, such as restored ones. Default: the stage creates its own. */
  existing?: ExistingState;
  /** Origins of web pages that may call the API and use presigned links, such as `https://app.example.com`. */
  corsOrigins: readonly string[];
  /** The web console, on CloudFront. Default: none. */
  console?: Console;
  /** A client of the stage's own user pool for `cms login` and web pages of your own. Default: none. */
  publicClient?: PublicClient;
  /**
   * The API's custom domain, with a certificate in the same region; by default, one for it in `hostedZone`. Default: API Gateway's
   * address.
   */
  domain?: { name: string; certificateArn?: string };
  /** The limits of each route, for all domains together. API Gateway answers 429 above them. */
  throttling: Throttling;
  /**
   * The limits of each expensive route (`isExpensive` in shared/endpoints/), for all domains together. Set them far above
   * `domainLimit`: API Gateway also counts the requests that the limit of the domain then refuses.
   */
  expensiveThrottling: Throttling;
  /** The changes that each domain may make. Its callers get 429 above that. Default: no limit. */
  domainLimit?: { changesPerSecond: number; burst: number };
  /** The concurrent executions of all functions that the account has in the region. */
  accountConcurrency: number;
  /** Executions that no other function can take. `'none'` for an account with a small limit, also for functions that wait. */
  reservedConcurrency: ReservedConcurrency | 'none';
  /** The least level of log entries that are kept. Metrics are entries of level INFO, so no stage may log less. */
  logLevel: 'DEBUG' | 'INFO';
  logRetention: RetentionDays;
  /** The fate of table, content and users when their stack is deleted: kept or deleted. */
  removalPolicy: RemovalPolicy;
  /** Protects the table and the user pool from deletion. */
  deletionProtection: boolean;
  /** Protects the stacks from deletion. */
  terminationProtection: boolean;
  pointInTimeRecovery: boolean;
  /** The ARN of a vault of AWS Backup in another account or Region, which gets a copy of table and content each day. Default: none. */
  copiesVaultArn?: string;
  /**
   * The recipients of alarms. A stage without a target fails at synth, unless the row says `'none'` and its data is not protected from
   * deletion. The alarms are visible in CloudWatch in any case.
   */
  alarmTargets?: readonly AlarmTarget[] | 'none';
  /**
   * The US dollars that the stage may cost in a month. The e-mail addresses and the first topic of `alarmTargets` are told before it
   * is exceeded, its webhooks are not. Default: no budget.
   */
  monthlyBudgetInDollars?: number;
  /** The times in seconds after which a run ends by itself. */
  runTimes: {
    /** The time until the CVM must accept the run. */
    acceptInSeconds: number;
    /** The longest time between two reports of the CVM. */
    silenceInSeconds: number;
    /** The longest time of the whole run after its acceptance. */
    runInSeconds: number;
    /** The time until the CVM must confirm a stop. */
    stopInSeconds: number;
  };
  /**
   * The names of the keys that sign evidence, oldest first. The last one signs, and the public keys of all are published. To
   * replace the key, add a name. Never remove one: evidence that its key has signed could no longer be verified.
   */
  evidenceKeys: readonly [string, ...string[]];
  waits: Waits;
  /** The gateway for the agents of real CVMs (docs/deploy.md#cvms). Default: none. */
  gateway?: GatewayRow;
  /** True if the events of computations go onto an event bus of the stage (docs/events.md). Default: false. */
  eventBus?: boolean;
  /** The canary, which runs a computation on a simulated CVM again and again (docs/deploy.md#the-canary). Default: none. */
  canary?: CanaryRow;
}

export interface CanaryRow {
  /** The minutes from one run of the canary to the next: 5 to 60. */
  everyMinutes: number;
  /**
   * A client of an existing user pool that allows `USER_PASSWORD_AUTH`. Required there. Default: one in the stage's own pool, for the
   * canary alone.
   */
  poolClientId?: string;
  /**
   * The credentials of the canary. Required if the stage names an issuer. Default: the password of the user `canary` in the stage's
   * user pool.
   */
  credentials?: CanaryCredentials;
}

/** An application that gets tokens from the stage's issuer by client credentials. They name the memberships of the canary. */
export interface CanaryCredentials {
  clientId: string;
  /** The name of the secret in Secrets Manager whose text is the secret of the client. */
  secretName: string;
  scope?: string;
  /** More parameters for the issuer, such as `audience`. */
  parameters?: Record<string, string>;
}

export interface GatewayRow {
  /** The port at which agents connect. */
  port: number;
  /** The number of tasks that serve CVMs. At least 2, so that CVMs stay connected while one is replaced. */
  tasks: number;
  /** The IPv4 networks from which agents connect, such as `203.0.113.0/24`. Default: all. */
  networks?: readonly string[];
  /** A name of your own that CVMs connect to, with a CNAME to the load balancer. Default: the load balancer's name. */
  hostName?: string;
  /**
   * A VPC that exists, with subnets of two zones or more, and a route to the internet or to the endpoints of S3, DynamoDB, ECR,
   * Secrets Manager, Step Functions, KMS and CloudWatch Logs. Default: a VPC of its own.
   */
  vpc?: ExistingVpc;
  /** The digest of the image of Node (docs/deploy.md#the-gateways-image), such as `sha256:4f...`. Default: its version alone. */
  imageDigest?: string;
}

export interface ExistingVpc {
  id: string;
  /** The subnets of the tasks and of the load balancer. */
  subnets: Readonly<Record<string, string>>;
  /** True if the subnets are public. Then tasks have public addresses, and the load balancer faces the internet. */
  isPublic: boolean;
}

/** The web console of a stage. The API and the content accept calls from its address. */
export interface Console {
  /** A domain name for the console, with a certificate in us-east-1. Default: CloudFront's address. */
  domain?: { name: string; certificateArn: string };
  /**
   * The client with which the console signs in. Required if the stage names an issuer or an existing user pool. Default: one of the
   * stage's own user pool.
   */
  client?: ConsoleClient;
}

/** A public client for the authorization code flow with PKCE, which may return to `<address>/console/`. */
export interface ConsoleClient {
  id: string;
  /** The scopes that the client asks for, separated by spaces. The access token must be a JWT for an audience of the stage. */
  scopes: string;
  /** The origins that a page calls to sign in: of the issuer, and of its token endpoint. */
  origins: readonly string[];
}

/**
 * A public client for the authorization code flow with PKCE. Without any URL, it serves `cms login` alone: it may always return to
 * `http://127.0.0.1:<port>/callback` at the ports of `loopbackPorts`.
 */
export interface PublicClient {
  /** The addresses of pages of your own to which the browser may return after signing in: `https`, or `http` at localhost. */
  callbackUrls?: readonly string[];
  /** The addresses of pages of your own to which the browser may return after signing out. */
  logoutUrls?: readonly string[];
}

/** The number of requests that each endpoint with the parameter `wait` holds at the same time. It answers further ones at once. */
export interface Waits {
  perStage: number;
  perDomain: number;
  /**
   * The reserved concurrency of the endpoint's function, more than `perStage`. Undefined, or `reservedConcurrency` of the stage
   * is `'none'`: waits may keep other functions from running.
   */
  concurrency?: number;
}

/** State that was made outside of the stage, in its account and region. docs/restore.md says how each must be set up. */
export interface ExistingState {
  tableName?: string;
  /** The ARN of the stream of `tableName`. Required with `tableName`. */
  tableStreamArn?: string;
  contentBucketName?: string;
  /** The ARN of a replica of the key that seals private keys, in the Region of the stage. */
  sealingKeyArn?: string;
  /** The ARNs of replicas of the keys that sign evidence, by the names of `evidenceKeys`. */
  evidenceKeyArns?: Readonly<Record<string, string>>;
  /** A user pool and its client. The stage must not name an issuer as well. */
  userPool?: { id: string; clientId: string };
}

export interface Throttling {
  requestsPerSecond: number;
  burst: number;
}

export interface ReservedConcurrency {
  /** The executions reserved for the reports of CVMs (endpoint 26). */
  reports: number;
  /** The executions reserved for each step of the run lifecycle. */
  lifecycleSteps: number;
  /**
   * The executions reserved for the checks of uploaded files. Each takes as long as it takes to hash the file. Uploads that come when
   * all are taken are checked later.
   */
  uploads: number;
  /**
   * The executions reserved for each endpoint that changes a domain, which takes no more than these. Default: it shares those of the
   * account.
   */
  changes?: number;
  /**
   * The executions reserved for each read that may take long: of an asset, and of the open tasks of a user. Default: it shares those
   * of the account.
   */
  slowReads?: number;
}

/** A recipient of alarms. */
export type AlarmTarget =
  /** An e-mail address, which gets a message to confirm. */
  | { email: string }
  /** An existing topic in the same region. Its policy must allow `cloudwatch.amazonaws.com` to publish. */
  | { topicArn: string }
  | { webhook: Webhook };

/** A URL that gets a POST with JSON when an alarm starts or ends. */
export interface Webhook {
  /** The address of the webhook, by https only. */
  url: string;
  /** The request header that contains the key, such as `authorization`. */
  header: string;
  /** The name of the secret in Secrets Manager whose text is the key. */
  secretName: string;
}

/** An OpenID Connect issuer that signs with RSA. API Gateway must be able to read its discovery document over https. */
export interface Issuer {
  url: string;
  audience: readonly string[];
  /** The claim that contains strings `<domainID>:<role>`. */
  membershipClaim: string;
}

const minute = 60;

/**
 * Returns a stage with the defaults: for an account with 1,000 executions, whose data stays when its stack is deleted, and whose
 * alarms tell nobody.
 */
export function stageWith(given: Partial<Stage> & Pick<Stage, 'name' | 'region'>): Stage {
  return {
    account: given.name,
    corsOrigins: [],
    throttling: { requestsPerSecond: 500, burst: 200 },
    expensiveThrottling: { requestsPerSecond: 200, burst: 200 },
    domainLimit: { changesPerSecond: 40, burst: 80 },
    accountConcurrency: 1_000,
    reservedConcurrency: { reports: 10, lifecycleSteps: 5, uploads: 10 },
    logLevel: 'INFO',
    logRetention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    deletionProtection: false,
    terminationProtection: false,
    pointInTimeRecovery: true,
    alarmTargets: 'none',
    runTimes: {
      acceptInSeconds: 5 * minute,
      silenceInSeconds: 5 * minute,
      runInSeconds: 7 * 24 * 60 * minute,
      stopInSeconds: 2 * minute,
    },
    evidenceKeys: ['key-1'],
    waits: { perStage: 20, perDomain: 20, concurrency: 30 },
    ...given,
  };
}

/** Returns the origins whose pages may call the API and use presigned links. */
export function originsOf({ corsOrigins }: Stage, consoleUrl: string | undefined): string[] {
  return [...corsOrigins, ...(consoleUrl === undefined ? [] : [consoleUrl])];
}

/**
 * Returns the removal policy of what is protected from deletion. A failed first deployment cannot delete it, so it is left behind, and the
 * next one makes another.
 */
export function keptIfProtected({ deletionProtection, removalPolicy }: Stage): RemovalPolicy {
  return deletionProtection ? RemovalPolicy.RETAIN : removalPolicy;
}

/** Returns the name of a stage's resource, such as a stack, a function or the state machine. */
export function nameIn(stage: Pick<Stage, 'name'>, name: string): string {
  return `computations-${stage.name}-${name.replace('/', '-')}`;
}

/** Returns those who are told of the stage's alarms; nobody for `'none'`. */
export function targetsOf({ alarmTargets = [] }: Stage): readonly AlarmTarget[] {
  return alarmTargets === 'none' ? [] : alarmTargets;
}

export function webhooksOf(stage: Stage): Webhook[] {
  return targetsOf(stage).flatMap((target) => ('webhook' in target ? [target.webhook] : []));
}

/**
 * Returns the name of the rule of a webhook. It is fixed, because the policy of the queue of undelivered events refers to it from
 * another stack.
 */
export function webhookRuleName(stage: Stage, number: number): string {
  return nameIn(stage, `alarm-webhook-${number}`);
}

/** The CloudWatch namespace of the metrics that functions emit and the dashboard shows. */
export const metricsNamespace = 'ComputationManagement';

/** The seconds for which an access token of the stage's own user pool is valid. */
export const accessTokensLiveInSeconds = 3_600;

/**
 * The days by which a table can be restored to an earlier state. Deleted content stays as long, so that a restored row finds its
 * object.
 */
export const recoverableInDays = 35;

/** The days for which events and messages that could not be delivered are kept. SQS keeps none longer. */
export const undeliveredStaysInDays = 14;
