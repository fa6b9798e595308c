import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ServiceError } from '../../shared/errors.ts';
import { problemResponse } from '../../shared/http/problem.ts';
import { route as healthRoute } from '../../shared/endpoints/service/health.ts';
import type { InvokeFunction } from './local-functions.ts';

const patienceInMilliseconds = 2_000;

/**
 * On AWS the function of `/health` answers for itself alone, since the parts behind it have monitoring of their own. Here nobody
 * else watches the DynamoDB engine, so `/health` answers 503 while that does not answer.
 */
export function withHealthOfEngine(invoke: InvokeFunction, engine: string): InvokeFunction {
  return async (name, event) => {
    if (name === healthRoute.name && !(await answers(engine))) {
      const { requestId } = (event as APIGatewayProxyEventV2).requestContext;
      return problemResponse(new ServiceError('unavailable', 'The DynamoDB engine does not answer.'), requestId);
    }
    return await invoke(name, event);
  };
}

async function answers(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(patienceInMilliseconds) });
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
