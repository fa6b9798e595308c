import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { RunTimes } from '../../shared/runtime/environment.ts';

/** The configuration of a deployment of the service, such as a row of infra/stages/stages.ts. `stageWith` has the defaults. */
export interface Stage {
  /** The name of the stage, which is part of all names of resources. Lower-case letters and digits, up to 16 characters. */
  name: string;
  region: string;
  /**
   * A name of your choice for the AWS account. Stages of the same account and region share the account's concurrent executions.
   */
  account: string;
  /** The ARN of a symmetric KMS key in the region that encrypts the table and the content. Default: AWS's own keys. */
  dataKeyArn?: string;
  /** The ARN of a managed policy of IAM that is the permissions boundary of every role. Default: none. */
  permissionsBoundaryArn?: string;
  /** The tags of every resource of the stage, besides `service` and `stage`. Default: none. */
  tags?: Readonly<Record<string, string>>;
  /**
   * A public hosted zone of Route 53 in the account. The domain names of the API, the console and the gateway (`domain`,
   * `console.domain` and `gateway.hostName`) get records in the zone.
   */
  hostedZone?: { id: string; name: string };
  /** The issuer of tokens. Default: the stage's own Cognito user pool, with groups `<domainID>:<role>`. */
  issuer?: Issuer;
  /**
   * `required` if every user of the stage's own user pool must have a second factor. Then CVMs need a gateway, and a canary or program
   * cannot sign in with a password. Default: users may have one.
   */
  mfa?: 'required';
  /** Tables, buckets and user pools that exist already, such as restored ones. Default: the stage creates its own. */
  existing?: ExistingState;
  /** Origins of web pages that may call the API and use presigned links, such as `https://app.example.com`. */
  corsOrigins: readonly string[];
  /** The settings of the web console, which is on CloudFront. Default: no console. */
  console?: Console;
  /**
   * The settings of a client of the stage's own user pool, for `cms login` and web pages of your own. Default: no such client.
   */
  publicClient?: PublicClient;
  /**
   * The API's custom domain, with a certificate in the same region. Default of the certificate: a new one, validated in
   * `hostedZone`. Default of the domain: API Gateway's address.
   */
  domain?: { name: string; certificateArn?: string };
  /** The limits of requests to each route of the API, for all domains together. API Gateway answers 429 above them. */
  throttling: Throttling;
  /**
   * The limits of requests to each expensive route (`isExpensive` in shared/endpoints/), for all domains together. Set them far
   * above `domainLimit`: API Gateway also counts the requests that the limit of the domain then refuses.
   */
  expensiveThrottling: Throttling;
  /** The changes that each domain may make through the API. The service answers 429 above the limit. Default: no limit. */
  domainLimit?: { changesPerSecond: number; burst: number };
  /** The quota of the account for concurrent executions of all Lambda functions in the region. */
  accountConcurrency: number;
  /**
   * The concurrent executions that are reserved for some functions, so that no other function can take them. `'none'` for an
   * account with a small quota: then nothing is reserved, also not for functions that wait.
   */
  reservedConcurrency: ReservedConcurrency | 'none';
  /** The least level of log entries that are kept. Metrics are entries of level INFO, so no stage may log less. */
  logLevel: 'DEBUG' | 'INFO';
  /** The retention of the logs of functions and of the gateway, among them the logs of runs. */
  logRetention: RetentionDays;
  /**
   * The retention of the access logs of the API and of the content: who asked for what, and from where. With
   * `deletionProtection`, they stay when their stacks are deleted.
   */
  auditRetention: RetentionDays;
  /** The fate of the table, the content and the users when their stack is deleted: kept or deleted. */
  removalPolicy: RemovalPolicy;
  /** True if the table and the user pool must be protected from deletion. */
  deletionProtection: boolean;
  /** True if CloudFormation must refuse to delete the stacks of the stage. */
  terminationProtection: boolean;
  pointInTimeRecovery: boolean;
  /**
   * The ARN of a vault of AWS Backup in another account or Region, which gets a copy of the table, the content and the log each day.
   * Default: no copies.
   */
  copiesVaultArn?: string;
  /**
   * The recipients of alarms. A stage without a target fails at synth, unless the row says `'none'` and its data is not protected from
   * deletion. The alarms are visible in CloudWatch in any case.
   */
  alarmTargets?: readonly AlarmTarget[] | 'none';
  /**
   * The US dollars that the stage may cost in a month. The e-mail addresses and the first topic of `alarmTargets` are notified
   * before the budget is exceeded; webhooks are not. Default: no budget.
   */
  monthlyBudgetInDollars?: number;
  /** The limits of the times of a run, in seconds, after which the run ends by itself. */
  runTimes: RunTimes;
  /**
   * The names of the KMS keys that sign evidence, oldest first. The last key signs, and the public keys of all are published. To
   * replace the key, add a name. Never remove a name: evidence that its key has signed could no longer be verified.
   */
  evidenceKeys: readonly [string, ...string[]];
  /**
   * The witnesses of the log, which cosign its checkpoints (C2SP tlog-witness): their addresses and keys. Each checkpoint waits up to
   * 5 seconds for them. Default: none.
   */
  witnesses?: readonly { url: string; vkey: string }[];
  /**
   * The days for which nobody can delete an object of the log, not even the owner of the account (S3 Object Lock, compliance mode).
   * Set it before the first deployment. Default: no lock.
   */
  logLockedForDays?: number;
  waits: Waits;
  /** The days for which the result of a run is kept after its reviewers released it. Default 30. */
  resultDays: number;
  /** The settings of mail to users about their open tasks (docs/deploy.md#mail). Default: none is sent. */
  mail?: MailRow;
  /** The settings of the gateway for the agents of real CVMs (docs/deploy.md#cvms). Default: no gateway. */
  gateway?: GatewayRow;
  /** True if the events of computations go onto an event bus of the stage (docs/events.md). Default: false. */
  eventBus?: boolean;
  /**
   * The settings of the canary, which runs a computation on a simulated CVM again and again (docs/deploy.md#the-canary). Default:
   * no canary.
   */
  canary?: CanaryRow;
}

/** The mail of a stage, which SES sends. */
export interface MailRow {
  /** The domain or address that is verified in SES, in the account and Region of the stage. */
  identity: string;
  /** The sender, an address of the identity. */
  from: string;
  /** The address of the page where users see their tasks, such as that of the console. */
  page: string;
}

export interface CanaryRow {
  /** The minutes from one run of the canary to the next: 5 to 60. */
  everyMinutes: number;
  /**
   * The identifier of a client of an existing user pool that allows `USER_PASSWORD_AUTH`. Required if the stage has an existing
   * user pool. Default: a client in the stage's own pool, for the canary alone.
   */
  poolClientId?: string;
  /**
   * The credentials of the canary. Required if the stage names an issuer. Default: the password of the user `canary` in the stage's
   * user pool.
   */
  credentials?: CanaryCredentials;
}

/**
 * The credentials of an application that gets tokens from the stage's issuer by the client credentials grant. The tokens name the
 * memberships of the canary.
 */
export interface CanaryCredentials {
  clientId: string;
  /** The name of the secret in Secrets Manager whose text is the secret of the canary's client. */
  secretName: string;
  scope?: string;
  /** More parameters of the canary's token request to the issuer, such as `audience`. */
  parameters?: Record<string, string>;
}

export interface GatewayRow {
  /** The port at which the agents of CVMs connect to the gateway. */
  port: number;
  /** The number of tasks of the gateway that serve CVMs. At least 2, so that CVMs stay connected while one task is replaced. */
  tasks: number;
  /**
   * The hours for which a replaced task stays while it has connections over which agents attested themselves, 1 to 48. After that,
   * CVMs without reconnects in their attestation policies need a restart of their agents. Default 24.
   */
  drainHours?: number;
  /** The IPv4 networks from which agents of CVMs connect, such as `203.0.113.0/24`. Default: all networks. */
  networks?: readonly string[];
  /**
   * A host name of your own that CVMs connect to, with a CNAME record for the gateway's load balancer. Default: the load
   * balancer's name.
   */
  hostName?: string;
  /**
   * The VPC of the gateway, which exists already. It has subnets in two zones or more, and a route to the internet; or an `image` of ECR
   * and endpoints of S3, DynamoDB, ECR (`ecr.api` and `ecr.dkr`), Secrets Manager, Step Functions, KMS, CloudWatch Logs and Elastic
   * Load Balancing. Default: a new VPC for the gateway alone.
   */
  vpc?: ExistingVpc;
  /**
   * The image with Node that the gateway runs on, best by its digest (docs/deploy.md#the-gateways-image): a public one, or one of a
   * repository of ECR, such as `111122223333.dkr.ecr.eu-central-1.amazonaws.com/node@sha256:4f...`. Default: Amazon's copy of Node's
   * official image, by its version.
   */
  image?: string;
}

export interface ExistingVpc {
  id: string;
  /** The identifiers of the subnets for the tasks of the gateway and its load balancer, by availability zone. */
  subnets: Readonly<Record<string, string>>;
  /** True if the subnets are public: tasks of the gateway get public addresses, and the load balancer faces the internet. */
  isPublic: boolean;
}

/** The web console of a stage. The API and the content accept calls from its address. */
export interface Console {
  /** A domain name for the console, with a certificate in us-east-1. Default: CloudFront's address. */
  domain?: { name: string; certificateArn: string };
  /**
   * The client with which the console signs in. Required if the stage names an issuer or an existing user pool. Default: a new
   * client of the stage's own user pool.
   */
  client?: ConsoleClient;
}

/**
 * The public client with which the console signs in, by the authorization code flow with PKCE. The client may return to
 * `<address>/console/`.
 */
export interface ConsoleClient {
  id: string;
  /**
   * The scopes that the console asks for when it signs in, separated by spaces. The access token must be a JWT for an audience of
   * the stage.
   */
  scopes: string;
  /** The origins that a page of the console calls to sign in: the issuer's, and that of the issuer's token endpoint. */
  origins: readonly string[];
}

/**
 * A public client of the stage's user pool, for the authorization code flow with PKCE. The client may always return to
 * `http://127.0.0.1:<port>/callback` at the ports of `loopbackPorts`, for `cms login`. Without any URL, it serves `cms login`
 * alone.
 */
export interface PublicClient {
  /** The addresses of pages of your own to which the browser may return after signing in: `https`, or `http` at localhost. */
  callbackUrls?: readonly string[];
  /** The addresses of pages of your own to which the browser may return after signing out. */
  logoutUrls?: readonly string[];
}

/**
 * The number of requests that each endpoint with the parameter `wait` holds at the same time. The endpoint answers further
 * requests at once.
 */
export interface Waits {
  perStage: number;
  perDomain: number;
  /**
   * The reserved concurrency of the function of each endpoint that waits: more than `perStage`. If it is undefined, or
   * `reservedConcurrency` of the stage is `'none'`, waiting requests may keep other functions from running.
   */
  concurrency?: number;
}

/**
 * The resources with state that were made outside of the stage, in its account and region. docs/restore.md says how each must be
 * set up.
 */
export interface ExistingState {
  tableName?: string;
  /** The ARN of the stream of the existing table. Required with `tableName`. */
  tableStreamArn?: string;
  contentBucketName?: string;
  logBucketName?: string;
  /** The ARN of a replica of the KMS key that signs the checkpoints of the log, in the Region of the stage. */
  logKeyArn?: string;
  /** The ARN of a replica of the KMS key that seals private keys, in the Region of the stage. */
  sealingKeyArn?: string;
  /** The ARNs of replicas, in the Region of the stage, of the KMS keys that sign evidence, by the names in `evidenceKeys`. */
  evidenceKeyArns?: Readonly<Record<string, string>>;
  /** The identifiers of an existing user pool and its client. The stage must not name an issuer as well. */
  userPool?: { id: string; clientId: string };
}

export interface Throttling {
  requestsPerSecond: number;
  burst: number;
}

export interface ReservedConcurrency {
  /** The concurrent executions that are reserved for the endpoint that takes the reports of CVMs (endpoint 26). */
  reports: number;
  /** The concurrent executions that are reserved for each step of the run lifecycle. */
  lifecycleSteps: number;
  /**
   * The concurrent executions that are reserved for the checks of uploaded files. Each check takes as long as hashing the file.
   * Uploads that arrive when all executions are taken are checked later.
   */
  uploads: number;
  /**
   * The concurrent executions that are reserved for each endpoint that changes a domain, and the most that the endpoint takes.
   * Default: the endpoint shares the executions of the account.
   */
  changes?: number;
  /**
   * The concurrent executions that are reserved for each read that may take long: of an asset, and of the open tasks of a user.
   * Default: the endpoint shares the executions of the account.
   */
  slowReads?: number;
}

/** The urgency of an alarm: somebody must act at once (`page`), or within days (`ticket`). */
export type Severity = 'page' | 'ticket';

/** A recipient of the alarms of a stage: of those of one severity, or of all. */
export type AlarmTarget = { for?: Severity } &
  /** An e-mail address that gets the alarms, after its owner has confirmed the first message. */
  (
    | { email: string }
    /** An existing SNS topic in the same region. Its policy must allow `cloudwatch.amazonaws.com` to publish. */
    | { topicArn: string }
    | { webhook: Webhook }
  );

/** A URL that gets a POST request with JSON when an alarm of the stage starts or ends. */
export interface Webhook {
  /** The address of the webhook, by https only. */
  url: string;
  /** The name of the request header that contains the webhook's key, such as `authorization`. */
  header: string;
  /** The name of the secret in Secrets Manager whose text is the webhook's key. */
  secretName: string;
}

/**
 * An OpenID Connect issuer of the tokens that the API accepts. The issuer must sign with RSA, and API Gateway must be able to
 * read its discovery document over https.
 */
export interface Issuer {
  url: string;
  audience: readonly string[];
  /** The claim of a token that contains the memberships of the user, as strings `<domainID>:<role>`. */
  membershipClaim: string;
}

const minute = 60;

/**
 * Returns a stage with the given settings and the defaults for the others: for an account with 1,000 concurrent executions, whose
 * data stays when its stack is deleted, and whose alarms notify nobody.
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
    auditRetention: RetentionDays.ONE_YEAR,
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
    resultDays: 30,
    evidenceKeys: ['key-1'],
    waits: { perStage: 20, perDomain: 20, concurrency: 30 },
    ...given,
  };
}

/**
 * Returns the origins whose pages may call the API and use presigned links: `corsOrigins` of the stage, and that of its console.
 */
export function originsOf({ corsOrigins }: Stage, consoleUrl: string | undefined): string[] {
  return [...corsOrigins, ...(consoleUrl === undefined ? [] : [consoleUrl])];
}

/**
 * Returns the removal policy of a resource that `deletionProtection` protects. A failed first deployment cannot delete such a
 * resource, so the resource is left behind, and the next deployment makes another.
 */
export function keptIfProtected({ deletionProtection, removalPolicy }: Stage): RemovalPolicy {
  return deletionProtection ? RemovalPolicy.RETAIN : removalPolicy;
}

/** Returns the removal policy of an access log, which outlives the stacks of a protected stage. */
export function keptForAudit({ deletionProtection, removalPolicy }: Stage): RemovalPolicy {
  return deletionProtection ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : removalPolicy;
}

/** Returns the name of a stage's resource, such as a stack, a function or the state machine. */
export function nameIn(stage: Pick<Stage, 'name'>, name: string): string {
  return `computations-${stage.name}-${name.replace('/', '-')}`;
}

/** Returns the recipients of the stage's alarms, which are none for `'none'`. */
export function targetsOf({ alarmTargets = [] }: Stage): readonly AlarmTarget[] {
  return alarmTargets === 'none' ? [] : alarmTargets;
}

/** Returns whether somebody is told of the alarms of a stage that cannot wait. */
export function isPaged(stage: Stage): boolean {
  return targetsOf(stage).some((target) => target.for !== 'ticket');
}

export function webhooksOf(stage: Stage): (Webhook & { for?: Severity | undefined })[] {
  return targetsOf(stage).flatMap((target) => ('webhook' in target ? [{ ...target.webhook, for: target.for }] : []));
}

/**
 * Returns the name of the EventBridge rule that calls a webhook on alarms of a severity. The name is fixed, because the policy of the
 * queue of undelivered events refers to the rules from another stack.
 */
export function webhookRuleName(stage: Stage, number: number | '*', severity: Severity | '*' = '*'): string {
  return nameIn(stage, `alarm-webhook-${number}-${severity}`);
}

/** The CloudWatch namespace of the metrics that functions emit and the dashboard shows. */
export const metricsNamespace = 'ComputationManagement';

/** The seconds for which an access token of the stage's own user pool is valid. */
export const accessTokensLiveInSeconds = 3_600;

/**
 * The number of days for which a table can be restored to an earlier state. Deleted content stays as long, so that a restored row
 * finds its object.
 */
export const recoverableInDays = 35;

/** The number of days for which queues keep events and messages that could not be delivered. SQS keeps none longer. */
export const undeliveredStaysInDays = 14;
