import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cvmId, domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { pageHeaders, contentTypeOf } from '../../shared/http/page-headers.ts';
import { isOfOtherPage } from '../machine/listen.ts';
import { apiGatewayMessage, jsonAnswer, send, readBody } from '../http-api/http-messages.ts';
import type { CvmGateway } from '../cvms/cvm-gateway.ts';
import { type LocalIssuer, isNameFor, localUser, reservedName } from '../sign-in/issuer.ts';
import { type DomainAnswer, domainRequest, type DomainRequest } from './local-domains.ts';
import { membership } from '../../shared/domains/manage-users.ts';
import { referenceFiles } from '../../functions/reference/reference-files.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';

const tokenRequest = v.pipe(
  v.strictObject({
    sub: localUser,
    groups: v.array(membership),
    email: v.optional(v.pipe(v.string(), v.email('Expected an address of mail.'))),
    expires_in: v.optional(v.pipe(v.number(), v.integer()), 12 * 60 * 60),
  }),
  v.forward(
    v.check(({ sub, groups }) => isNameFor(sub, groups), reservedName),
    ['sub'],
  ),
);

export type TokenRequest = v.InferInput<typeof tokenRequest>;

const enrolment = v.strictObject({ domain: domainId, cvm_id: cvmId, public_key: v.pipe(v.string(), v.maxLength(10_000)) });

/** The path at which the results of simulated CVMs are, each under the identifier of its run. */
const pathOfResults = '/local/results/';

export interface LocalPagesOptions {
  mintToken: LocalIssuer['mintToken'];
  /** Issues a certificate of a CVM for its public key. Undefined without a gateway for real CVMs. */
  enrol: CvmGateway['enrol'] | undefined;
  manageDomain: (request: DomainRequest) => Promise<DomainAnswer>;
  /** Returns the result of a run, a ZIP archive, if a simulated CVM has it. */
  simulatedResult: (runId: string) => Buffer | undefined;
}

/** The answer of this machine to requests at one of its own paths. */
interface Action<Asked> {
  schema: v.GenericSchema<unknown, Asked>;
  /** The start of the sentence that refuses requests from elsewhere. */
  what: string;
  /** Returns the answer. @throws UsageError if the request cannot be done as it is */
  act: (asked: Asked) => Promise<object>;
}

/**
 * Returns a handler that serves the API reference at /docs with a form that issues tokens. For requests from this machine, the
 * handler also issues tokens and certificates of CVMs, manages domains and gives the results of simulated CVMs, which only the
 * service on one machine does.
 */
export function localPages({ mintToken, enrol, manageDomain, simulatedResult }: LocalPagesOptions) {
  const reference = referenceFiles();
  const action = <Asked>(of: Action<Asked>) => of as Action<unknown>;
  const actions = new Map([
    ['/local/token', action({ schema: tokenRequest, what: 'Tokens are issued', act: (asked) => tokenFor(asked, mintToken) })],
    ['/local/domain', action({ schema: domainRequest, what: 'Domains are managed', act: manageDomain })],
  ]);
  if (enrol) {
    const act = (asked: v.InferOutput<typeof enrolment>) => certificateFor(asked, enrol);
    actions.set('/local/cvm', action({ schema: enrolment, what: 'Certificates are issued', act }));
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const [path = ''] = (request.url ?? '').split('?');
    if (request.method === 'GET' && path.startsWith(pathOfResults)) {
      sendResult(response, simulatedResult(path.slice(pathOfResults.length)));
      return true;
    }
    const found = actions.get(path);
    if (!found) return await sendReference(request, response, reference);
    response.setHeaders(pageHeaders());
    const asked = await readOwn(request, response, found);
    if (asked === undefined) return true;
    try {
      send(response, jsonAnswer(200, await found.act(asked)));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      send(response, apiGatewayMessage(error instanceof UsageError ? 400 : 409, message));
    }
    return true;
  };
}

/**
 * Reads the JSON body of a request from a program, or from a page of this service. Answers a request that is refused. @returns
 * undefined if the request was answered
 */
async function readOwn(request: IncomingMessage, response: ServerResponse, { schema, what }: Action<unknown>): Promise<unknown> {
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

async function tokenFor(asked: v.InferOutput<typeof tokenRequest>, mintToken: LocalIssuer['mintToken']): Promise<object> {
  const { expires_in, ...user } = asked;
  return { access_token: await mintToken({ ...user, expiresInSeconds: expires_in }), token_type: 'Bearer', expires_in };
}

async function certificateFor(asked: v.InferOutput<typeof enrolment>, enrol: CvmGateway['enrol']): Promise<object> {
  const { domain, cvm_id: cvmId, public_key: publicKey } = asked;
  return await enrol({ domain, cvmId, publicKey }).catch(() => {
    throw new UsageError('public_key: Expected an RSA or EC public key in PEM.');
  });
}

/** Sends the result of a run that a simulated CVM has, or 404. */
function sendResult(response: ServerResponse, body: Buffer | undefined): void {
  const headers = { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="result.zip"' };
  const missing = 'No simulated CVM has a result of this run.';
  send(
    response,
    body ? { statusCode: 200, headers: { ...headers, 'cache-control': 'no-store' }, body } : apiGatewayMessage(404, missing),
  );
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
