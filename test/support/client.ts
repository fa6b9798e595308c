import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type * as v from 'valibot';
import { routes, type KnownRoute, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { type CheckResponse, type OpenApiDocument, responseChecker } from './openapi-document.ts';
import { untilAnswered } from './repeating-call.ts';
import { suiteState, type Person, type Target } from './target.ts';

type RouteOf<Name extends RouteName> = Extract<KnownRoute, { name: Name }>;
type ParameterNames<Path extends string> = Path extends `${string}{${infer Parameter}}${infer Rest}`
  ? Parameter | ParameterNames<Rest>
  : never;
type OwnParameters<Name extends RouteName> = Exclude<ParameterNames<RouteOf<Name>['path']>, 'domainID'>;

/** A request to a route. Default domain: the target's. */
export type CallRequest<Name extends RouteName> = ([OwnParameters<Name>] extends [never]
  ? { path?: { domainID?: string } }
  : { path: Record<OwnParameters<Name>, string> & { domainID?: string } }) & {
  /** Selects a row if the name has two. Default: the last row's method. */
  method?: RouteOf<Name>['method'];
  query?: Record<string, string | number | boolean>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged instead of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** Default: the administrator. Null sends no token. */
  as?: Person | null;
  /** True if a refusal for too many requests (429) is the reply. Default: false, the request is sent again each second, as clients do. */
  once?: boolean;
};

export type BodyOf<Name extends RouteName> =
  RouteOf<Name> extends { response: infer S extends v.GenericSchema } ? v.InferOutput<S> : undefined;

export interface Reply {
  status: number;
  headers: Headers;
  body: unknown;
}

/** An error response. The gateway's own errors have only `message`. */
export interface Refusal {
  status: number;
  code?: string;
  detail?: string;
  reason?: string;
  run_id?: string;
  errors?: { pointer: string; detail: string }[];
  missing_items?: { keys: string[]; hashes: string[]; info: string[] };
  message?: string;
}

/** Calls routes by name. Checks every answer against the OpenAPI document that the target serves. */
export interface Client {
  document: OpenApiDocument;
  check: CheckResponse;
  /** Sends a request. A read is repeated while the service is busy, and so is a change with an `Idempotency-Key`. */
  call: <Name extends RouteName>(name: Name, request: CallRequest<Name>) => Promise<Reply>;
  /** Returns the body of a success. Repeats the request while the service is busy. @throws Error for an error response */
  done: <Name extends RouteName>(name: Name, request: CallRequest<Name>) => Promise<BodyOf<Name>>;
  /** Returns the error response. Repeats the request while the service is busy. @throws Error for a success */
  refused: <Name extends RouteName>(name: Name, request: CallRequest<Name>) => Promise<Refusal>;
}

export async function openClient(target: Target, onReply?: (name: RouteName, reply: Reply) => void): Promise<Client> {
  const { document, check } = documented(await (await fetch(`${target.baseUrl}/openapi.json`)).text());

  const send = async <Name extends RouteName>(name: Name, request: CallRequest<Name>): Promise<Reply> => {
    const { method, path: template } = rowOf(name, request.method);
    const path = filled(template, { domainID: target.domain, ...request.path });
    const query = new URLSearchParams(
      Object.entries(request.query ?? {}).map(([key, value]): [string, string] => [key, String(value)]),
    );
    const body = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    if (body !== undefined) suiteState?.noteSent(body);
    const person = request.as === undefined ? 'administrator' : request.as;
    const send = () =>
      fetch(`${target.baseUrl}${path}${query.size > 0 ? `?${query.toString()}` : ''}`, {
        method,
        headers: {
          ...(person === null ? {} : { authorization: `Bearer ${target.tokenOf(person)}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...request.headers,
        },
        ...(body === undefined ? {} : { body }),
      });
    let response = await send();
    for (; response.status === 429 && request.once !== true; response = await send()) await delay(1_000);
    const { status, headers } = response;
    const reply = { status, headers, body: check(method, template, { status, headers, text: await response.text() }) };
    onReply?.(name, reply);
    return reply;
  };
  const call: Client['call'] = (name, request) => {
    const isRepeatable = rowOf(name, request.method).method === 'GET' || request.headers?.['idempotency-key'] !== undefined;
    return isRepeatable ? untilAnswered(() => send(name, request)) : send(name, request);
  };
  return {
    document,
    check,
    call,
    done: async (name, request) => {
      const headers = { 'idempotency-key': randomUUID(), ...request.headers };
      const { status, body } = await call(name, { ...request, headers } as typeof request);
      if (status >= 300) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`);
      return body as BodyOf<typeof name>;
    },
    refused: async (name, request) => {
      const { status, body } = await untilAnswered(() => send(name, request)); // one that is refused changes nothing
      if (status < 300) throw new Error(`${name} answered ${status}, not an error: ${JSON.stringify(body)}`);
      return { ...(body as Omit<Refusal, 'status'>), status };
    },
  };
}

/** The OpenAPI documents that this process has read, by their text. Validators of answers are compiled once for all files. */
const known = new Map<string, { document: OpenApiDocument; check: CheckResponse }>();

function documented(text: string) {
  const document = JSON.parse(text) as OpenApiDocument;
  const read = known.get(text) ?? { document, check: responseChecker(document) };
  known.set(text, read);
  return read;
}

function rowOf(name: RouteName, method: string | undefined): { method: string; path: string } {
  const row = routes.findLast((route) => route.name === name && (method === undefined || route.method === method));
  if (!row) throw new TypeError(`There is no route ${method} ${name}.`);
  return row;
}

function filled(template: string, parameters: Record<string, string>): string {
  return template.replace(/\{(\w+)\+?\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
}
