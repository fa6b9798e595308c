import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { RunTimes } from '../shared/runs/state-machine.ts';

/** What one deployment of the service is like. The account is that of the credentials it is deployed with. */
export interface Stage {
  /** Part of the names of everything that is created; lower case, up to 16 characters. */
  name: string;
  region: string;
  /** Who issues the tokens. Left out: a Cognito user pool of the stage's own, with groups `<domainID>:<role>`. */
  issuer?: Issuer;
  /** Web pages that may call the API and the content's presigned links; `https://app.example.com`. */
  corsOrigins: readonly string[];
  /** The API's own name, with a certificate of the same region. Left out: API Gateway's address. */
  domain?: { name: string; certificateArn: string };
  /** For the whole API; above it callers get 429. */
  throttling: { requestsPerSecond: number; burst: number };
  /** Metrics are written as log entries of the level INFO, so no stage logs less. */
  logLevel: 'DEBUG' | 'INFO';
  logRetention: RetentionDays;
  /** Whether table, content and users stay when their stack is deleted. */
  removalPolicy: RemovalPolicy;
  /** Refuses to delete the table and the user pool. */
  deletionProtection: boolean;
  /** Refuses to delete the stacks. */
  terminationProtection: boolean;
  pointInTimeRecovery: boolean;
  /** Who hears of alarms. Left out: nobody; the alarms are still there to look at. */
  alarmEmail?: string;
  runTimes: RunTimes;
}

/** An issuer of OpenID Connect whose discovery document API Gateway can read over https, and which signs with RSA. */
export interface Issuer {
  url: string;
  audience: readonly string[];
  /** The claim with strings `<domainID>:<role>`. */
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
  },
];

/** The name of a resource of the stage: stacks, functions and the state machine are found by it. */
export function nameIn(stage: Stage, name: string): string {
  return `computations-${stage.name}-${name.replace('/', '-')}`;
}
