import { randomInt, randomUUID } from 'node:crypto';
import { type Identity, identity } from './identity.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as v from 'valibot';
import { apiGatewayMessage, send, readBody } from '../http-api/http-messages.ts';

/** The errors of RFC 8628, section 3.5. */
export type NotYet = 'authorization_pending' | 'access_denied' | 'expired_token';

/** Sign-ins of devices, which wait until a user has decided about their code in a browser. */
export interface DeviceSignIns {
  begin: () => { device_code: string; user_code: string; expires_in: number; interval: number };
  /** @returns false if no sign-in waits with this code */
  decide: (userCode: string, decision: Identity | 'refused') => boolean;
  /** Gives the user once. */
  take: (deviceCode: string) => Identity | NotYet;
}

interface Waiting {
  userCode: string;
  expiresAt: number;
  decision: Identity | 'refused' | undefined;
}

const lifetimeInSeconds = 600;
const intervalInSeconds = 1;

/** Without vowels, so that no code is a word (RFC 8628, section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

export function deviceSignIns(): DeviceSignIns {
  const signIns = new Map<string, Waiting>();
  const isOver = ({ expiresAt }: Waiting) => Date.now() >= expiresAt;
  return {
    begin: () => {
      for (const [code, signIn] of signIns) if (isOver(signIn)) signIns.delete(code);
      const device_code = randomUUID();
      const userCode = newUserCode();
      signIns.set(device_code, { userCode, expiresAt: Date.now() + lifetimeInSeconds * 1_000, decision: undefined });
      return { device_code, user_code: userCode, expires_in: lifetimeInSeconds, interval: intervalInSeconds };
    },
    decide: (userCode, decision) => {
      const typed = lettersOf(userCode);
      const found = [...signIns.values()].find((each) => lettersOf(each.userCode) === typed);
      if (!found || found.decision !== undefined || isOver(found)) return false;
      found.decision = decision;
      return true;
    },
    take: (deviceCode) => {
      const signIn = signIns.get(deviceCode);
      if (!signIn || isOver(signIn)) return 'expired_token';
      if (signIn.decision === undefined) return 'authorization_pending';
      signIns.delete(deviceCode);
      return signIn.decision === 'refused' ? 'access_denied' : signIn.decision;
    },
  };
}

function newUserCode(): string {
  const text = Array.from({ length: 8 }, () => letters.charAt(randomInt(letters.length))).join('');
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

function lettersOf(userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
}

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
