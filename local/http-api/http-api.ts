import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../../shared/runtime/deadline.ts';
import { domainIsClosed } from '../../shared/http/domain-limit.ts';
import { problemResponse } from '../../shared/http/problem.ts';
import { isLimited } from '../../shared/http/route.ts';
import { FunctionTimeoutError, RequestTooLargeError, type InvokeFunction } from '../functions/local-functions.ts';
import { listen, type Listening } from '../machine/listen.ts';
import { apiCors } from '../../shared/http/cors.ts';
import { authorize, type AuthorizerOptions } from './authorize.ts';
import {
  type AllowsOrigin,
  corsHeaders,
  preflightAnswer,
  withoutCorsHeaders,
  functionResponse,
  type ApiResponse,
  apiGatewayMessage,
  send,
  readBody,
} from './http-messages.ts';
import { httpEvent, type ApiRoute, matchRoute } from './http-event.ts';

export interface HttpApiOptions {
  routes: readonly ApiRoute[];
  authorizer: AuthorizerOptions;
  invoke: InvokeFunction;
  /** The clock of the events that functions get. Tokens are checked in real time. */
  clock: Clock;
  port: number;
  /** The domains that are being removed, whose changes are refused. Default: none. */
  closedDomains?: ClosedDomains;
  /** Says whether web pages of an origin may call the API. Default: the API has no CORS. */
  allowsOrigin?: AllowsOrigin;
  /** The handlers of pages that exist on one machine only. Each returns true if it has answered the request. */
  pages?: readonly ((request: IncomingMessage, response: ServerResponse) => Promise<boolean>)[];
  onResponse?: ((done: Done) => void) | undefined;
}

/** An answered request. The route is the name of its function, and undefined for a page. */
interface Done {
  method: string;
  url: string;
  statusCode: number;
  milliseconds: number;
  route: string | undefined;
}

const largestBodyInBytes = 10 * 1024 * 1024;

/** Starts a server that answers HTTP as an HTTP API of API Gateway does, and calls the functions of the route table. */
export async function startHttpApi(options: HttpApiOptions): Promise<Listening> {
  const server = createServer((request, response) => {
    const startedAt = performance.now();
    serve(request, response, options)
      .then((route) => {
        const { method = '', url = '' } = request;
        const milliseconds = performance.now() - startedAt;
        options.onResponse?.({ method, url, statusCode: response.statusCode, milliseconds, route });
      })
      .catch((error: unknown) => {
        if (request.destroyed && !request.complete) return; // the client disconnected
        process.stderr.write(`${String(error instanceof Error ? error.stack : error)}\n`);
        if (response.headersSent) response.destroy();
        else send(response, apiGatewayMessage(500, 'Internal Server Error'));
      });
  });
  return await listen(server, options.port);
}

async function serve(request: IncomingMessage, response: ServerResponse, options: HttpApiOptions): Promise<string | undefined> {
  for (const page of options.pages ?? []) if (await page(request, response)) return undefined;
  const requestId = randomBytes(11).toString('base64');
  response.setHeader('apigw-requestid', requestId);
  response.setHeader('x-request-id', requestId); // on AWS, only the answers of functions have it
  const { allowsOrigin } = options;
  if (allowsOrigin) {
    response.setHeaders(new Map(Object.entries(corsHeaders(request, apiCors, allowsOrigin))));
    if (request.method === 'OPTIONS') {
      send(response, preflightAnswer(request, apiCors, allowsOrigin));
      return undefined;
    }
  }
  const { answer, route } = await answerTo(request, requestId, options);
  send(response, allowsOrigin ? withoutCorsHeaders(answer) : answer);
  return route;
}

interface Answer {
  answer: ApiResponse;
  route?: string;
}

async function answerTo(message: IncomingMessage, requestId: string, options: HttpApiOptions): Promise<Answer> {
  const [rawPath = '', ...rest] = (message.url ?? '').split('?');
  const match = matchOrMalformed(options.routes, message.method ?? '', rawPath);
  if (match === 'malformed') return { answer: apiGatewayMessage(400, 'Bad Request') };
  if (!match) return { answer: apiGatewayMessage(404, 'Not Found') };
  const route = match.route.name;

  const isPublic = match.route.access === undefined;
  const authorization = isPublic ? undefined : await authorize(message.headers.authorization, options.authorizer);
  if (authorization && 'challenge' in authorization) {
    return { route, answer: apiGatewayMessage(401, 'Unauthorized', { 'www-authenticate': authorization.challenge }) };
  }

  const body = await readBody(message, largestBodyInBytes);
  if (!body) return { route, answer: apiGatewayMessage(413, 'Request Entity Too Large') };
  const event = httpEvent({
    message,
    requestId,
    time: new Date(options.clock.now()),
    rawPath,
    rawQueryString: rest.join('?'),
    match,
    body,
    ...authorization,
  });
  const { domainID } = match.pathParameters;
  const { closedDomains } = options;
  if (domainID === undefined || !closedDomains || !isLimited(route, options.routes)) {
    return { route, answer: await integrate(options.invoke, route, event) };
  }
  const endChange = closedDomains.beginChange(domainID);
  if (!endChange) {
    const refuse = async () => problemResponse(domainIsClosed(domainID), requestId); // as the function does on AWS
    return { route, answer: await integrate(refuse, route, event) };
  }
  try {
    return { route, answer: await integrate(options.invoke, route, event) };
  } finally {
    endChange();
  }
}

function matchOrMalformed(routes: readonly ApiRoute[], method: string, rawPath: string) {
  try {
    return matchRoute(routes, method, rawPath);
  } catch (error) {
    if (error instanceof URIError) return 'malformed';
    throw error;
  }
}

async function integrate(invoke: InvokeFunction, name: string, event: unknown): Promise<ApiResponse> {
  try {
    return functionResponse(await invoke(name, event)) ?? apiGatewayMessage(500, 'Internal Server Error');
  } catch (error) {
    if (error instanceof RequestTooLargeError) return apiGatewayMessage(413, 'Request Entity Too Large');
    if (error instanceof FunctionTimeoutError) return apiGatewayMessage(503, 'Service Unavailable');
    process.stderr.write(`${name}: ${String(error instanceof Error ? error.stack : error)}\n`);
    return apiGatewayMessage(500, 'Internal Server Error');
  }
}

/** Formats a line for the terminal about an answered request. The line is empty for pages and for successful requests of CVMs. */
export function requestLine({ method, url, statusCode, milliseconds, route }: Done): string {
  if (route === undefined || (route.startsWith('cvms/') && statusCode < 400)) return '';
  return `  ${statusCode}  ${method.padEnd(6)} ${url}  ${milliseconds.toFixed(0)} ms\n`;
}

/** The domains that are being removed, which admit no change through the API. */
export class ClosedDomains {
  private readonly closed = new Set<string>();
  private readonly inProgress = new Map<string, Set<Promise<void>>>();

  /** Begins a change of a domain. Returns the function to call at the end of the change, or undefined if the domain is closed. */
  beginChange(domain: string): (() => void) | undefined {
    if (this.closed.has(domain)) return undefined;
    const changes = this.inProgress.get(domain) ?? new Set();
    this.inProgress.set(domain, changes);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    changes.add(promise);
    return () => {
      resolve(undefined);
      changes.delete(promise);
      if (changes.size === 0) this.inProgress.delete(domain);
    };
  }

  /** Closes a domain, so that it admits no further change, and waits for the changes in progress. */
  async close(domain: string): Promise<void> {
    this.closed.add(domain);
    await Promise.all(this.inProgress.get(domain) ?? new Set<Promise<void>>());
  }

  open(domain: string): void {
    this.closed.delete(domain);
  }
}
