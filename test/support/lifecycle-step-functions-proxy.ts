import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../infra/local/listen.ts';

export interface StepFunctionsCall {
  /** `StartExecution`, `SendTaskSuccess`, ... */
  operation: string;
  body: Record<string, unknown>;
}

/**
 * What becomes of a call: `refuse`: the connection dies, nothing is done; `lose-answer`: it is done, and the connection dies
 * before the answer; `hold`: nothing is done, and nobody ever answers; undefined: it goes through.
 */
export type Disturbance = 'refuse' | 'lose-answer' | 'hold' | undefined;

export interface StepFunctionsProxy {
  endpoint: string;
  /** Asks `decide` about every call from now on, beside those that were asked before. Returns what ends it. */
  disturb: (decide: (call: StepFunctionsCall) => Disturbance) => () => void;
  stop: () => Promise<void>;
}

/** An HTTP proxy in front of a Step Functions API that disturbs single calls. */
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
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target },
      body,
    });
    const answered = await answer.text();
    if (disturbance === 'lose-answer') response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(answered);
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
