import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
