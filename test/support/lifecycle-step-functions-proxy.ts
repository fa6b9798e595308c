import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../local/machine/listen.ts';
import { post } from './post.ts';

export interface StepFunctionsCall {
  /** `StartExecution`, `SendTaskSuccess`, ... */
  operation: string;
  body: Record<string, unknown>;
}

/**
 * The fault of a call. `refuse`: the connection is closed, and the call has no effect. `lose-answer`: the call takes effect, and
 * the connection is closed before the answer. `hold`: the call has no effect and no answer. Undefined: no fault.
 */
export type Disturbance = 'refuse' | 'lose-answer' | 'hold' | undefined;

export interface StepFunctionsProxy {
  endpoint: string;
  /** Calls `decide` for every call from now on, in addition to earlier ones. Returns a function that ends this. */
  disturb: (decide: (call: StepFunctionsCall) => Disturbance) => () => void;
  stop: () => Promise<void>;
}

/** Starts an HTTP proxy in front of a Step Functions API that disturbs single calls. */
export async function startStepFunctionsProxy(endpoint: string): Promise<StepFunctionsProxy> {
  const deciders = new Set<(call: StepFunctionsCall) => Disturbance>();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = String(request.headers['x-amz-target']);
    const body = await text(request);
    const call = { operation: target.replace('AWSStepFunctions.', ''), body: JSON.parse(body) as Record<string, unknown> };
    const disturbance = [...deciders].map((decide) => decide(call)).find((found) => found !== undefined);
    if (disturbance === 'hold') return;
    if (disturbance === 'refuse') {
      response.destroy();
      return;
    }
    const answer = await post(endpoint, { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target }, body);
    if (disturbance === 'lose-answer') response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(answer.text);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const listening = await listen(server, 0);
  return {
    endpoint: listening.endpoint,
    disturb: (decide) => {
      deciders.add(decide);
      return () => void deciders.delete(decide);
    },
    stop: async () => {
      server.closeAllConnections();
      await listening.stop();
    },
  };
}
