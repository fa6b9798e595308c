import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { healthRoute } from '../shared/endpoints/service.ts';
import { problemResponse } from '../shared/http/problem.ts';
import { ServiceError } from '../shared/runtime/errors.ts';
import { createTable, type LocalDynamoDb, startDynamoDb } from './dynamodb/dynamodb.ts';
import type { InvokeFunction } from './functions/local-functions.ts';
import type { AllowsOrigin } from './http-api/http-messages.ts';
import { local } from './machine/environment.ts';
import { portWithoutPages } from './machine/listen.ts';
import { type LocalS3, startS3 } from './s3/s3.ts';
import { type LocalIssuer, openIssuer } from './sign-in/issuer.ts';

/** The parts that keep the state of the service on this machine. */
export interface LocalStorage {
  dynamoDb: LocalDynamoDb;
  s3: LocalS3;
  issuer: LocalIssuer;
}

interface StorageOptions {
  /** The directory of the service's state. Undefined: the state is in memory. */
  dataDirectory: string | undefined;
  allowsOrigin: AllowsOrigin;
  /** Receives the key of each object that was uploaded or stored below `content/`. */
  onObjectCreated: (key: string) => void;
  /** Called once if the DynamoDB engine has ended for good. The message of the error is for the user. */
  onLost: ((error: Error) => void) | undefined;
}

/**
 * Starts the DynamoDB engine, object storage and the issuer of tokens side by side, and creates the table.
 * @param onStop receives a function that stops a part, for each part that has started, also if another part fails
 * @throws Error if a part fails to start
 */
export async function startStorage(
  { dataDirectory, allowsOrigin, onObjectCreated, onLost }: StorageOptions,
  onStop: (stop: () => Promise<void>) => void,
): Promise<LocalStorage> {
  const started = async <Part extends { stop: () => Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    onStop(part.stop);
    return part;
  };
  const starting = [
    started(startDynamoDb({ dataDirectory, findPort: portWithoutPages, ...(onLost ? { onLost } : {}) })),
    started(
      startS3({
        bucket: local.bucketName,
        logBucket: local.logBucketName,
        notifiedPrefix: 'content/',
        allowsOrigin,
        onObjectCreated,
        dataDirectory,
      }),
    ),
    openIssuer({ claim: local.membershipClaim, dataDirectory }),
  ] as const;
  await Promise.allSettled(starting); // if one fails, the others are stopped after they have started
  const [dynamoDb, s3, issuer] = await Promise.all(starting);
  await createTable(dynamoDb.endpoint, local.tableName);
  return { dynamoDb, s3, issuer };
}

const healthTimeoutInMilliseconds = 2_000;

/**
 * Returns a function that invokes functions of the service, but that makes `/health` answer 503 while the DynamoDB engine does
 * not answer. Nothing else monitors the engine on one machine.
 */
export function withHealthOfEngine(invoke: InvokeFunction, engine: LocalDynamoDb): InvokeFunction {
  return async (name, event) => {
    if (name === healthRoute.name && !(await answers(engine))) {
      const { requestId } = (event as APIGatewayProxyEventV2).requestContext;
      return problemResponse(new ServiceError('unavailable', 'The DynamoDB engine does not answer.'), requestId);
    }
    return await invoke(name, event);
  };
}

async function answers({ endpoint, isListening }: LocalDynamoDb): Promise<boolean> {
  if (!isListening()) return false;
  try {
    const request = get(endpoint, { signal: AbortSignal.timeout(healthTimeoutInMilliseconds) }); // fetch refuses the port
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return true;
  } catch {
    return false;
  }
}
