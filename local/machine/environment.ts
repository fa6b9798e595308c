import { randomUUID } from 'node:crypto';
import type { Witness } from '../../shared/history/index.ts';
import type { RunTimes } from '../../shared/runtime/environment.ts';
import { serviceVersion } from '../../shared/runtime/service-version.ts';
import { forgetClients, replaceClient, keysInKms } from '../../shared/runtime/clients.ts';
import type { LocalKms } from './kms.ts';

/** The names of the service's resources on one machine, in place of those of a deployed stage. */
export const local = {
  tableName: 'computation-management',
  bucketName: 'content',
  logBucketName: 'log',
  stateMachineArn: 'arn:aws:states:local:000000000000:stateMachine:run-lifecycle',
  membershipClaim: 'cognito:groups',
  region: 'local',
} as const;

/**
 * The most requests that each endpoint with the parameter `wait` holds at the same time on one machine. A held request costs a
 * read of the DynamoDB engine each second.
 */
export const localWaits = { perStage: 200, perDomain: 200 } as const;

export interface Endpoints {
  dynamoDb: string;
  s3: string;
  /** The endpoint of Step Functions, where nobody listens: see `callInProcess`. */
  stepFunctions: string;
}

/** The endpoint of a service of AWS whose calls this process answers itself. Nobody listens there. */
export const inProcess = 'http://in-process.invalid';

/** Sets the environment variables of the functions, as a deployment does, and lets the functions use the keys of this machine. */
export function setEnvironment(
  endpoints: Endpoints,
  keys: LocalKms,
  times: RunTimes,
  { logLevel, witnesses = [] }: { logLevel: string; witnesses?: readonly Witness[] | undefined },
): void {
  forgetClients();
  replaceClient(keysInKms, () => keys.kms);
  for (const other of ['AWS_PROFILE', 'AWS_SESSION_TOKEN']) Reflect.deleteProperty(process.env, other);
  Object.assign(process.env, {
    STAGE: 'local',
    SERVICE_VERSION: serviceVersion(),
    TABLE_NAME: local.tableName,
    BUCKET_NAME: local.bucketName,
    LOG_BUCKET_NAME: local.logBucketName,
    LOG_KEY_ARN: keys.logKeyArn,
    LOG_WITNESSES: JSON.stringify(witnesses),
    STATE_MACHINE_ARN: local.stateMachineArn,
    SIGNING_KEY_ARN: keys.signingKeyArn,
    SEALING_KEY_ARN: keys.sealingKeyArn,
    PUBLISHED_KEY_ARNS: keys.publishedKeyArns.join(','),
    PURGE_URL: '', // the purge is called without Lambda
    MEMBERSHIP_CLAIM: local.membershipClaim,
    ACCEPT_TIMEOUT_SECONDS: String(times.acceptInSeconds),
    STOP_TIMEOUT_SECONDS: String(times.stopInSeconds),
    WAITS_PER_STAGE: String(localWaits.perStage),
    WAITS_PER_DOMAIN: String(localWaits.perDomain),
    LOG_LEVEL: logLevel,
    METRICS_NAMESPACE: '', // nobody collects metrics here
    DOMAIN_CHANGES_PER_SECOND: '', // one machine has no others to protect
    DOMAIN_BURST: '',
    RESULT_DAYS: '30',
    MAIL: '', // see `--smtp`
    ISSUER_URL: '', // tokens of this machine name the address themselves
    AWS_REGION: local.region,
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamoDb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SFN: endpoints.stepFunctions,
  });
}

/** The credentials of AWS for the storage on this machine, made anew at each start. Only object storage checks them. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: randomUUID() };
