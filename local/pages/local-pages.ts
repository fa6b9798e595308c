import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cvmId, domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { pageHeaders } from '../../shared/http/page-headers.ts';
import { isOfOtherPage } from '../machine/listen.ts';
import { apiGatewayMessage, jsonAnswer, send, readBody } from '../http-api/http-messages.ts';
import type { CvmGateway } from '../cvms/cvm-gateway.ts';
import type { LocalIssuer } from '../sign-in/issuer.ts';
import { isNameFor, localUser, reservedName } from '../sign-in/identity.ts';
import type { DomainAnswer, DomainRequest } from './local-domains.ts';
import { membership } from '../../shared/domains/manage-users.ts';
import { contentTypeOf } from '../../shared/http/content-type.ts';
import { referenceFiles } from '../../functions/reference/reference-files.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';

const tokenRequest = v.pipe(
  v.strictObject({
    sub: localUser,
    groups: v.array(membership),
    expires_in: v.optional(v.pipe(v.number(), v.integer()), 12 * 60 * 60),
  }),
  v.forward(
    v.check(({ sub, groups }) => isNameFor(sub, groups), reservedName),
    ['sub'],
  ),
);

const enrolment = v.strictObject({ domain: domainId, cvm_id: cvmId, public_key: v.pipe(v.string(), v.maxLength(10_000)) });

const roles = v.array(v.pipe(v.string(), v.nonEmpty('Expected a role.')));
const domainRequest = v.variant('action', [
  v.strictObject({ action: v.literal('create'), domain: domainId, user: localUser }),
  v.strictObject({ action: v.picklist(['invite', 'role']), domain: domainId, user: localUser, roles }),
  v.strictObject({ action: v.literal('memberships'), user: localUser }),
  v.strictObject({ action: v.literal('look'), domain: domainId }),
  v.strictObject({ action: v.literal('remove'), domain: domainId, stop: v.boolean() }),
]);

export interface LocalPagesOptions {
  mintToken: LocalIssuer['mintToken'];
  /** Issues a certificate of a CVM for its public key. Undefined without a gateway for real CVMs. */
  enrol: CvmGateway['enrol'] | undefined;
  manageDomain: (request: DomainRequest) => Promise<DomainAnswer>;
}

/**
 * Returns a handler that serves the API reference at /docs with a form that issues tokens. For requests from this machine, the
 * handler also issues tokens and certificates of CVMs and manages domains, which only the service on one machine does.
 */
export function localPages({ mintToken, enrol, manageDomain }: LocalPagesOptions) {
  const reference = referenceFiles();
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const [path = ''] = (request.url ?? '').split('?');
    if (path === '/local/token') {
      response.setHeaders(pageHeaders());
      await sendToken(request, response, mintToken);
      return true;
    }
    if (request.method === 'POST' && path === '/local/cvm' && enrol) {
      await sendCertificate(request, response, enrol);
      return true;
    }
    if (path === '/local/domain') {
      await sendDomain(request, response, manageDomain);
      return true;
    }
    return await sendReference(request, response, reference);
  };
}

/**
 * Reads the JSON body of a request from a program, or from a page of this service. Answers a request that is refused. @returns
 * undefined if the request was answered
 */
async function readOwn<S extends v.GenericSchema>(
  request: IncomingMessage,
  response: ServerResponse,
  { schema, what }: { schema: S; what: string },
): Promise<v.InferOutput<S> | undefined> {
  const body = await readBody(request, 64 * 1024);
  if (request.method !== 'POST') {
    send(response, apiGatewayMessage(404, 'Not Found'));
    return undefined;
  }
  const isJson = request.headers['content-type']?.startsWith('application/json') ?? false;
  if (isOfOtherPage(request) || !isJson || !body) {
    send(response, apiGatewayMessage(403, `${what} only for JSON requests from this machine.`));
    return undefined;
  }
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body.toString());
  if (parsed.success) return parsed.output;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'The body'}: ${issue.message}`);
  send(response, apiGatewayMessage(400, problems.join(' ')));
  return undefined;
}

async function sendToken(request: IncomingMessage, response: ServerResponse, mintToken: LocalIssuer['mintToken']): Promise<void> {
  const asked = await readOwn(request, response, { schema: tokenRequest, what: 'Tokens are issued' });
  if (!asked) return;
  const { sub, groups, expires_in } = asked;
  const access_token = await mintToken({ sub, groups, expiresInSeconds: expires_in });
  send(response, jsonAnswer(200, { access_token, token_type: 'Bearer', expires_in }));
}

async function sendDomain(
  request: IncomingMessage,
  response: ServerResponse,
  manageDomain: LocalPagesOptions['manageDomain'],
): Promise<void> {
  const asked = await readOwn(request, response, { schema: domainRequest, what: 'Domains are managed' });
  if (!asked) return;
  try {
    send(response, jsonAnswer(200, await manageDomain(asked)));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    send(response, apiGatewayMessage(error instanceof UsageError ? 400 : 409, message));
  }
}

async function sendCertificate(request: IncomingMessage, response: ServerResponse, enrol: CvmGateway['enrol']): Promise<void> {
  const asked = await readOwn(request, response, { schema: enrolment, what: 'Certificates are issued' });
  if (!asked) return;
  const { domain, cvm_id, public_key } = asked;
  try {
    send(response, jsonAnswer(200, await enrol({ domain, cvmId: cvm_id, publicKey: public_key })));
  } catch {
    send(response, apiGatewayMessage(400, 'public_key: Expected an RSA or EC public key in PEM.'));
  }
}

/**
 * Serves the files of the API reference, with a form that issues tokens on the page. @returns whether the request was for a file
 * of the reference
 */
async function sendReference(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  files: Record<string, string>,
): Promise<boolean> {
  const [path = ''] = url.split('?');
  const file = files[path === '/favicon.ico' ? '/docs/favicon.png' : path];
  if ((method !== 'GET' && method !== 'HEAD') || file === undefined) return false;
  const body = await readFile(file);
  const headers = { ...Object.fromEntries(pageHeaders()), 'content-type': contentTypeOf(file), 'cache-control': 'no-cache' };
  send(response, { statusCode: 200, headers, body: path === '/docs' ? await withTokenForm(body) : body });
  return true;
}

async function withTokenForm(page: Buffer): Promise<Buffer> {
  const form = await readFile(join(import.meta.dirname, 'token-form.html'), 'utf8');
  return Buffer.from(page.toString().replace('<body>\n', (start) => start + form));
}
