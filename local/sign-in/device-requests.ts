import type { IncomingMessage, ServerResponse } from 'node:http';
import * as v from 'valibot';
import { apiGatewayMessage, send } from '../http-api/http-response.ts';
import { readBody } from '../http-api/read-body.ts';
import type { DeviceSignIns } from './device-sign-ins.ts';
import { identity } from './identity.ts';

const decided = v.intersect([v.object({ user_code: v.string() }), v.union([identity, v.object({ refused: v.literal(true) })])]);

export interface DeviceRequestsOptions {
  devices: DeviceSignIns;
  clientId: string;
}

/**
 * Answers the two requests of a sign-in by device that are not for tokens: a program begins one, and the sign-in page sends what its
 * user decided. Pages of other origins may do neither.
 * @returns handles a request for `path` to the issuer with the address `issuer`. False if it is another request
 */
export function deviceRequests({ devices, clientId }: DeviceRequestsOptions) {
  return async (request: IncomingMessage, response: ServerResponse, issuer: string, path: string): Promise<boolean> => {
    const isBegin = path === '/device_authorization';
    if (request.method !== 'POST' || (!isBegin && path !== '/device')) return false;
    const text = (await readBody(request, 64 * 1024))?.toString() ?? '';
    const { 'sec-fetch-site': site = 'none' } = request.headers;
    if (site !== 'none' && site !== 'same-origin') {
      send(response, apiGatewayMessage(403, 'Sign in with a program, or with the page of this service.'));
    } else if (isBegin) {
      const isKnown = new URLSearchParams(text).get('client_id') === clientId;
      if (isKnown) sendJson(response, 200, begun(devices, issuer));
      else sendJson(response, 401, { error: 'invalid_client', error_description: `Expected client_id ${clientId}.` });
    } else {
      decide(response, devices, text);
    }
    return true;
  };
}

function begun(devices: DeviceSignIns, issuer: string) {
  const code = devices.begin();
  const verification_uri = `${issuer}/device`;
  return { ...code, verification_uri, verification_uri_complete: `${verification_uri}?user_code=${code.user_code}` };
}

function decide(response: ServerResponse, devices: DeviceSignIns, text: string): void {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), decided), text);
  if (!parsed.success) {
    send(response, apiGatewayMessage(400, parsed.issues.map(({ message }) => message).join(' ')));
    return;
  }
  const { user_code } = parsed.output;
  const isDecided = devices.decide(user_code, 'refused' in parsed.output ? 'refused' : parsed.output);
  if (isDecided) sendJson(response, 200, {});
  else send(response, apiGatewayMessage(404, 'No sign-in waits with this code. Begin again in the terminal.'));
}

/** Sends an answer that no cache may keep. */
export function sendJson(response: ServerResponse, statusCode: number, body: object): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  send(response, { statusCode, headers, body: Buffer.from(JSON.stringify(body)) });
}
