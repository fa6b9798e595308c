import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ServiceError } from '../../shared/runtime/errors.ts';
import { problemResponse } from '../../shared/http/problem.ts';
import { health as healthRoute } from '../../shared/endpoints/service.ts';
import type { LocalDynamoDb } from '../dynamodb/dynamodb.ts';
import type { InvokeFunction } from './local-functions.ts';

const timeoutInMilliseconds = 2_000;

/**
 * Makes `/health` answer 503 while the DynamoDB engine does not answer. On AWS, `/health` covers only its own function, because
 * the parts behind it have their own monitoring. On one machine nothing else monitors the engine.
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
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(timeoutInMilliseconds) });
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
