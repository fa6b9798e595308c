import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { listen } from '../../local/machine/listen.ts';
import { post } from './post.ts';

/** Answers one request. The answer may be missing or never end. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTP server on the loopback interface that answers as a test defines. */
export interface AnsweringServer {
  endpoint: string;
  /** The methods of the requests received so far. */
  received: string[];
  /** Sets the answers to the next requests; the last one is for all later requests. Clears `received`. */
  answerWith: (...answers: Answer[]) => void;
  stop: () => Promise<void>;
}

export async function startAnsweringServer(): Promise<AnsweringServer> {
  let answers: Answer[] = [];
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.method ?? '');
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    request.resume().once('end', () => answer?.(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (...given) => {
      answers = given;
      received.length = 0;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const status =
  (code: number, body = ''): Answer =>
  (_, response) =>
    void response.writeHead(code).end(body);

/** Closes the connection without an answer. */
export const hangUp: Answer = (request) => void request.socket.destroy();

/** Never answers. */
export const silence: Answer = () => undefined;

export interface LocalRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Answers each request with JSON, or with a text as it is, and keeps it. For services of AWS of which a test needs one call. */
export async function startAnswering(
  answerTo: (request: LocalRequest) => object | string | Promise<object | string>,
): Promise<{ endpoint: string; requests: LocalRequest[]; stop: () => Promise<void> }> {
  const requests: LocalRequest[] = [];
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body };
      requests.push(received);
      const answer = await answerTo(received);
      const isText = typeof answer === 'string';
      response.setHeader('content-type', isText ? 'text/xml' : 'application/x-amz-json-1.1');
      response.end(isText ? answer : JSON.stringify(answer));
    });
  });
  return { ...(await listen(server, 0)), requests };
}

/** Passes requests on to an engine, and keeps them. */
export async function startForwarding(
  engine: string,
): Promise<{ endpoint: string; requests: LocalRequest[]; stop: () => Promise<void> }> {
  const requests: LocalRequest[] = [];
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, path, headers, body });
      const passedOn = Object.entries(headers)
        .filter(([name]) => /^(x-amz-|authorization$|content-type$)/.test(name))
        .map(([name, value]): [string, string] => [name, String(value)]);
      const answer = await post(engine + path, Object.fromEntries(passedOn), body);
      response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(answer.text);
    });
  });
  return { ...(await listen(server, 0)), requests };
}
