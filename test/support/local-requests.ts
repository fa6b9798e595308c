import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../local/machine/listen.ts';

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
      const answer = await fetch(engine + path, { method, headers: passedOn, body });
      response.writeHead(answer.status, { 'content-type': String(answer.headers.get('content-type')) });
      response.end(await answer.text());
    });
  });
  return { ...(await listen(server, 0)), requests };
}
