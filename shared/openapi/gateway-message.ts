import * as v from 'valibot';
import type { ErrorCode } from '../errors.ts';

/** The body of API Gateway's own errors, for requests that do not reach a function. */
export const gatewayMessageSchema = v.pipe(
  v.object({
    message: v.pipe(v.string(), v.description('What went wrong.'), v.metadata({ maxLength: 1_000, examples: ['Unauthorized'] })),
  }),
  v.title('GatewayMessage'),
  v.description('An error of API Gateway, for a request that did not reach the service.'),
);

/** The message of API Gateway for each error that it answers itself. */
export const gatewayMessages: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Unauthorized',
  too_large: 'Request Entity Too Large',
  too_many_requests: 'Too Many Requests',
  internal: 'Internal Server Error',
  unavailable: 'Service Unavailable',
};
