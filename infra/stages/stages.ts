import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { stageWith, type Stage } from './stage.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';

const minute = 60;
const day = 24 * 60 * minute;
const region = 'eu-central-1';

/** The stages of this repository. `stageWith` in stage.ts has the defaults of the settings that a row leaves out. */
export const stages: readonly Stage[] = [
  stageWith({
    name: 'dev',
    region,
    account: 'development',
    corsOrigins: ['http://localhost:3000'],
    domainLimit: { changesPerSecond: 50, burst: 500 }, // the end-to-end suite makes all its changes in one domain
    logLevel: 'DEBUG',
    logRetention: RetentionDays.ONE_WEEK,
    removalPolicy: RemovalPolicy.DESTROY,
    pointInTimeRecovery: false,
    monthlyBudgetInDollars: 50,
    runTimes: { acceptInSeconds: 5 * minute, silenceInSeconds: 5 * minute, runInSeconds: day, stopInSeconds: 2 * minute },
  }),
  stageWith({
    name: 'staging',
    region,
    account: 'development',
    throttling: { requestsPerSecond: 1_000, burst: 200 },
    reservedConcurrency: { reports: 20, lifecycleSteps: 10, uploads: 20 },
    removalPolicy: RemovalPolicy.DESTROY,
    terminationProtection: true,
    monthlyBudgetInDollars: 50,
    waits: { perStage: 50, perDomain: 25, concurrency: 70 },
    canary: { everyMinutes: 15 },
  }),
  stageWith({
    name: 'prod',
    region,
    account: 'production',
    throttling: { requestsPerSecond: 8_000, burst: 5_000 },
    expensiveThrottling: { requestsPerSecond: 6_000, burst: 5_000 },
    accountConcurrency: 6_000, // request it before the first deployment: docs/deploy.md#limits
    reservedConcurrency: { reports: 100, lifecycleSteps: 20, uploads: 50, changes: 150, slowReads: 150 },
    auditRetention: RetentionDays.SIX_YEARS,
    deletionProtection: true,
    terminationProtection: true,
    alarmTargets: [], // synth fails until you name who is on duty: docs/deploy.md#alarms
    monthlyBudgetInDollars: 1_000,
    runTimes: { acceptInSeconds: 10 * minute, silenceInSeconds: 10 * minute, runInSeconds: 30 * day, stopInSeconds: 5 * minute },
    waits: { perStage: 90, perDomain: 50, concurrency: 110 },
    canary: { everyMinutes: 15 },
  }),
];

/** Returns the stage that the option `--stage` of a command names. @throws UsageError if no stage has the name */
export function stageNamed(name: string): Stage {
  const stage = stages.find((row) => row.name === name);
  if (stage) return stage;
  throw new UsageError(`--stage is ${JSON.stringify(name)}; expected one of ${stages.map((row) => row.name).join(' ')}.`);
}
