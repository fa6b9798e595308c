import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Stage } from './stage.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

export const stages: readonly Stage[] = [
  {
    name: 'dev',
    region: 'eu-central-1',
    account: 'development',
    corsOrigins: ['http://localhost:3000'],
    throttling: { requestsPerSecond: 500, burst: 200 },
    expensiveThrottling: { requestsPerSecond: 200, burst: 200 },
    domainLimit: { changesPerSecond: 50, burst: 500 }, // the end-to-end suite makes all its changes in one domain
    accountConcurrency: 1_000,
    reservedConcurrency: { reports: 10, lifecycleSteps: 5, uploads: 10 },
    logLevel: 'DEBUG',
    logRetention: RetentionDays.ONE_WEEK,
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    terminationProtection: false,
    pointInTimeRecovery: false,
    alarmTargets: 'none',
    monthlyBudgetInDollars: 50,
    runTimes: { acceptInSeconds: 5 * minute, silenceInSeconds: 5 * minute, runInSeconds: day, stopInSeconds: 2 * minute },
    waits: { perStage: 20, perDomain: 20, concurrency: 30 },
    evidenceKeys: ['key-1'],
  },
  {
    name: 'staging',
    region: 'eu-central-1',
    account: 'development',
    corsOrigins: [],
    throttling: { requestsPerSecond: 1_000, burst: 200 },
    expensiveThrottling: { requestsPerSecond: 200, burst: 200 },
    domainLimit: { changesPerSecond: 40, burst: 80 },
    accountConcurrency: 1_000,
    reservedConcurrency: { reports: 20, lifecycleSteps: 10, uploads: 20 },
    logLevel: 'INFO',
    logRetention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    terminationProtection: true,
    pointInTimeRecovery: true,
    alarmTargets: 'none',
    monthlyBudgetInDollars: 50,
    runTimes: { acceptInSeconds: 5 * minute, silenceInSeconds: 5 * minute, runInSeconds: 7 * day, stopInSeconds: 2 * minute },
    waits: { perStage: 50, perDomain: 25, concurrency: 70 },
    evidenceKeys: ['key-1'],
    canary: { everyMinutes: 15 },
  },
  {
    name: 'prod',
    region: 'eu-central-1',
    account: 'production',
    corsOrigins: [],
    throttling: { requestsPerSecond: 8_000, burst: 5_000 },
    expensiveThrottling: { requestsPerSecond: 6_000, burst: 5_000 },
    domainLimit: { changesPerSecond: 40, burst: 80 },
    accountConcurrency: 4_000, // request it before the first deployment: docs/deploy.md#limits
    reservedConcurrency: { reports: 100, lifecycleSteps: 20, uploads: 50, changes: 150, slowReads: 150 },
    logLevel: 'INFO',
    logRetention: RetentionDays.ONE_YEAR,
    removalPolicy: RemovalPolicy.RETAIN,
    deletionProtection: true,
    terminationProtection: true,
    pointInTimeRecovery: true,
    alarmTargets: [], // synth fails until you name who is on duty: docs/deploy.md#alarms
    monthlyBudgetInDollars: 1_000,
    runTimes: { acceptInSeconds: 10 * minute, silenceInSeconds: 10 * minute, runInSeconds: 30 * day, stopInSeconds: 5 * minute },
    waits: { perStage: 150, perDomain: 50, concurrency: 180 },
    evidenceKeys: ['key-1'],
    canary: { everyMinutes: 15 },
  },
];
