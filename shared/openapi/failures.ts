import { errorTable, type ErrorCode } from '../errors.ts';
import type { Contract } from '../http/contract.ts';
import { takesKey, type Route } from '../http/route.ts';
import { gatewayMessages } from './gateway-message.ts';
import { everyResponse, optionalTextHeaders, rateLimitHeaders } from './headers.ts';
import { problemExamples } from './problem-examples.ts';

/** The errors that every endpoint can return. */
const everywhere: readonly ErrorCode[] = ['invalid_request', 'too_many_requests', 'internal', 'unavailable'];

/** The errors that the endpoints behind the authorizer can return as well. */
const behindAuthorizer: readonly ErrorCode[] = ['unauthenticated', 'forbidden'];

/** The error responses of an endpoint, by status. */
export function failures(route: Route, contract: Contract) {
  const ofCondition: readonly ErrorCode[] = contract.condition === 'if-match' ? ['precondition_failed'] : [];
  const ofKey: readonly ErrorCode[] = takesKey(route) ? ['idempotency_mismatch'] : [];
  const ofAccess = route.access ? behindAuthorizer : [];
  const codes = [...everywhere, ...ofAccess, ...(contract.errors ?? []), ...ofCondition, ...ofKey];
  return Object.fromEntries(
    [...Map.groupBy(codes, (code) => errorTable[code].status)].map(([status, ofStatus]) => [
      status,
      failure(status, ofStatus, route, contract),
    ]),
  );
}

/** @param codes the errors that share the status */
function failure(status: number, codes: ErrorCode[], route: Route, contract: Contract) {
  const problem = {
    schema: { $ref: '#/components/schemas/Problem' },
    examples: Object.assign({}, ...codes.map((code) => problemExamples(code, route, contract))) as Record<string, unknown>,
  };
  const message = codes.flatMap((code) => gatewayMessages[code] ?? [])[0];
  const byGateway = { schema: { $ref: '#/components/schemas/GatewayMessage' }, example: { message } };
  return {
    description: codes.map((code) => described(code, contract)).join(' '),
    headers: {
      ...everyResponse,
      ...retryAfter(status),
      ...(status === 401 ? challengeHeader : {}),
      ...(status === 429 ? rateLimitHeaders : {}),
    },
    content: { 'application/problem+json': problem, ...(message === undefined ? {} : { 'application/json': byGateway }) },
  };
}

const challengeHeader = optionalTextHeaders({
  'WWW-Authenticate':
    'What is wrong with the token, such as `Bearer error="invalid_token"`. In responses of functions, API Gateway may rename this ' +
    'header to `x-amzn-remapped-www-authenticate`.',
});

function described(code: ErrorCode, { reasons = [] }: Contract): string {
  const kinds = code === 'conflict' && reasons.length > 0 ? `, ${reasons.map((reason) => `\`${reason}\``).join(', ')}` : '';
  return `${errorTable[code].title} (\`${code}\`${kinds}).`;
}

/** Functions send it with 429 and 503. API Gateway does not send it with its own errors. */
function retryAfter(status: number) {
  if (status !== 429 && status !== 503) return {};
  return {
    'Retry-After': {
      description:
        'The number of seconds to wait before the next try. Absent if API Gateway itself refuses the request: then wait one second, ' +
        `and double the time after each further ${status}.`,
      required: false,
      schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 3600 },
    },
  };
}
