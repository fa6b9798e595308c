import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { tasks } from '../../shared/tasks/tasks.ts';
import { type Listening, listen } from '../machine/listen.ts';
import type { Background } from './background.ts';

const invocations = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;
const known = new Set<string>(tasks.map(({ name }) => name));

/**
 * Serves the operation of Lambda that the service uses, on the loopback interface: Invoke of a task with the type `Event`, which
 * answers 202 before the function has run.
 */
export async function startLambdaApi(background: Pick<Background, 'invoke'>): Promise<Listening> {
  return await listen(
    createServer((request, response) => void answer(request, response, background)),
    0,
  );
}

async function answer(request: IncomingMessage, response: ServerResponse, background: Pick<Background, 'invoke'>): Promise<void> {
  const refuse = (status: number, type: string, Message: string) =>
    response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type }).end(JSON.stringify({ Message }));
  const [, encoded] = invocations.exec(request.url ?? '') ?? [];
  const type = request.headers['x-amz-invocation-type'];
  try {
    const name = decodeURIComponent(encoded ?? '');
    const event: unknown = JSON.parse((await text(request)) || '{}');
    if (!known.has(name)) refuse(404, 'ResourceNotFoundException', `Function not found: ${name}`);
    else if (request.method !== 'POST' || type !== 'Event') {
      refuse(400, 'InvalidParameterValueException', `An invocation of the type ${String(type)} is not supported.`);
    } else {
      background.invoke(name, event);
      response.writeHead(202).end();
    }
  } catch (error) {
    refuse(400, 'InvalidRequestContentException', String(error));
  }
}
