import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { RunTimes } from '../shared/runs/state-machine.ts';

/** The configuration of a deployment. The account is that of the credentials used to deploy. */
export interface Stage {
  /** Part of all resource names. Lower case, up to 16 characters. */
  name: string;
  region: string;
  /** The issuer of tokens. Default: the stage's own Cognito user pool, with groups `<domainID>:<role>`. */
  issuer?: Issuer;
  /** Origins of web pages that may call the API and use presigned links, such as `https://app.example.com`. */
  corsOrigins: readonly string[];
  /** The API's custom domain, with a certificate in the same region. Default: API Gateway's address. */
  domain?: { name: string; certificateArn: string };
  /** The limits of the whole API. Callers above them get 429. */
  throttling: { requestsPerSecond: number; burst: number };
  /** Metrics are log entries of level INFO, so no stage may log less. */
  logLevel: 'DEBUG' | 'INFO';
  logRetention: RetentionDays;
  /** What happens to table, content and users when their stack is deleted. */
  removalPolicy: RemovalPolicy;
  /** Protects the table and the user pool from deletion. */
  deletionProtection: boolean;
  /** Protects the stacks from deletion. */
  terminationProtection: boolean;
  pointInTimeRecovery: boolean;
  /** The recipient of alarms. Default: none. The alarms are visible in CloudWatch in any case. */
  alarmEmail?: string;
  runTimes: RunTimes;
  /**
   * The names of the keys that sign evidence, oldest first. The last one signs, and the public keys of all are published. To
   * replace the key, add a name. Never remove one: evidence that its key has signed could no longer be verified.
   */
  evidenceKeys: readonly [string, ...string[]];
  waits: Waits;
}

/** How many requests each endpoint with the parameter `wait` holds at the same time. Above, it answers at once. */
export interface Waits {
  perStage: number;
  perDomain: number;
  /**
   * The reserved concurrency of the endpoint's function. More than `perStage`, because requests that need no wait take some as well.
   * Undefined: the function shares the concurrency of the account, so waits may keep other functions from running.
   */
  concurrency?: number;
}

/** An OpenID Connect issuer that signs with RSA. API Gateway must be able to read its discovery document over https. */
export interface Issuer {
  url: string;
  audience: readonly string[];
  /** The claim that contains strings `<domainID>:<role>`. */
  membershipClaim: string;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

export const stages: readonly Stage[] = [
  {
    name: 'dev',
    region: 'eu-central-1',
    corsOrigins: ['http://localhost:3000'],
    throttling: { requestsPerSecond: 50, burst: 100 },
    logLevel: 'DEBUG',
    logRetention: RetentionDays.ONE_WEEK,
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    terminationProtection: false,
    pointInTimeRecovery: false,
    runTimes: { acceptInSeconds: 5 * minute, silenceInSeconds: 5 * minute, runInSeconds: day, stopInSeconds: 2 * minute },
    waits: { perStage: 20, perDomain: 20, concurrency: 30 },
    evidenceKeys: ['key-1'],
  },
  {
    name: 'staging',
    region: 'eu-central-1',
    corsOrigins: [],
    throttling: { requestsPerSecond: 100, burst: 200 },
    logLevel: 'INFO',
    logRetention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    terminationProtection: true,
    pointInTimeRecovery: true,
    runTimes: { acceptInSeconds: 5 * minute, silenceInSeconds: 5 * minute, runInSeconds: 7 * day, stopInSeconds: 2 * minute },
    waits: { perStage: 50, perDomain: 25, concurrency: 70 },
    evidenceKeys: ['key-1'],
  },
  {
    name: 'prod',
    region: 'eu-central-1',
    corsOrigins: [],
    throttling: { requestsPerSecond: 500, burst: 1000 },
    logLevel: 'INFO',
    logRetention: RetentionDays.ONE_YEAR,
    removalPolicy: RemovalPolicy.RETAIN,
    deletionProtection: true,
    terminationProtection: true,
    pointInTimeRecovery: true,
    runTimes: { acceptInSeconds: 10 * minute, silenceInSeconds: 10 * minute, runInSeconds: 30 * day, stopInSeconds: 5 * minute },
    waits: { perStage: 150, perDomain: 50, concurrency: 200 },
    evidenceKeys: ['key-1'],
  },
];

/** Returns the name of a stage's resource, such as a stack, a function or the state machine. */
export function nameIn(stage: Stage, name: string): string {
  return `computations-${stage.name}-${name.replace('/', '-')}`;
}
