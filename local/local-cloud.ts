import { uploadPrefix } from '../shared/assets/content-store.ts';
import { stateMachineDefinition, type RunTimes } from '../shared/runs/state-machine.ts';
import type { Background } from './functions/background.ts';
import { startLambdaApi } from './functions/lambda-api.ts';
import type { Listening } from './listen.ts';
import { startDynamoDb, type LocalDynamoDb } from './dynamodb/dynamodb.ts';
import type { AllowsOrigin } from './http-api/cors.ts';
import { startIssuer, type LocalIssuer } from './sign-in/issuer.ts';
import { local } from './local-environment.ts';
import type { InvokeFunction } from './functions/local-functions.ts';
import { startS3, type LocalS3 } from './s3/s3.ts';
import { startStepFunctions, type LocalStepFunctions } from './step-functions/step-functions.ts';
import type { TimerClock } from '../shared/timer-clock.ts';

/** What the functions use of AWS, on this machine. */
export interface LocalCloud {
  dynamoDb: LocalDynamoDb;
  s3: LocalS3;
  stepFunctions: LocalStepFunctions;
  issuer: LocalIssuer;
  lambda: Listening;
}

export interface LocalCloudOptions {
  /** The directory of the state. Default: in memory. */
  dataDirectory?: string;
  times: RunTimes;
  allowsOrigin: AllowsOrigin;
  invoke: InvokeFunction;
  background: Background;
  clock: TimerClock;
  /** Called once if the engine of the table has ended for good. */
  onLost?: (error: Error) => void;
  onStop: (stop: () => Promise<void>) => void;
}

/** Starts the parts at the same time. @throws the error of the first part that failed, after all have started or failed */
export async function startLocalCloud(options: LocalCloudOptions): Promise<LocalCloud> {
  const { times, allowsOrigin, invoke, background, clock, onLost, onStop } = options;
  const kept = options.dataDirectory === undefined ? {} : { dataDirectory: options.dataDirectory };
  const started = async <Part extends { stop: () => Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    onStop(part.stop);
    return part;
  };
  const parts = [
    started(startDynamoDb({ ...kept, ...(onLost ? { onLost } : {}) })),
    started(
      startS3({
        bucket: local.bucketName,
        notifiedPrefix: uploadPrefix,
        allowsOrigin,
        onObjectCreated: (key) => background.invoke('maintenance/receive-upload', { key }),
        ...kept,
      }),
    ),
    started(
      startStepFunctions({
        definition: stateMachineDefinition((step) => `lifecycle/${step}`, times),
        stateMachineArn: local.stateMachineArn,
        invoke,
        clock,
        onStatusChange: (event) => background.invoke('lifecycle/execution-ended', event),
      }),
    ),
    started(startIssuer({ claim: local.membershipClaim, ...kept })),
    started(startLambdaApi(background)),
  ] as const;
  await Promise.allSettled(parts); // if one fails, the others are stopped after they have started
  const [dynamoDb, s3, stepFunctions, issuer, lambda] = await Promise.all(parts);
  return { dynamoDb, s3, stepFunctions, issuer, lambda };
}
