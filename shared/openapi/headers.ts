import type { JsonSchema } from '@valibot/to-json-schema';
import { replayedHeader, type Route } from '../http/route.ts';
interface HeaderObject {
  description: string;
  required?: false;
  schema: JsonSchema;
}

/**
 * The longest header of the API in characters, for the OpenAPI document. API Gateway accepts 10,240 bytes of headers in total.
 */
const maxLength = 10_240;

/** Returns the OpenAPI objects of headers with texts, from their descriptions. */
export function textHeaders(descriptions: Record<string, string>, more: { required?: false } = {}): Record<string, HeaderObject> {
  const entries = Object.entries(descriptions);
  const schema = { type: 'string', maxLength } as const;
  return Object.fromEntries(entries.map(([name, description]) => [name, { description, schema, ...more }]));
}

/** Returns the OpenAPI objects of headers with texts that a response may lack, from their descriptions. */
export const optionalTextHeaders = (descriptions: Record<string, string>) => textHeaders(descriptions, { required: false });

/** The components of the OpenAPI document for headers to which all operations refer. API Gateway adds the second one. */
export const sharedHeaders: Record<string, HeaderObject> = {
  RequestId: { description: 'The identifier of the request.', schema: { type: 'string', maxLength } },
  AllowedOrigin: {
    description: 'The origin of the web page that sent the request, if the stage allows it.',
    required: false,
    schema: { type: 'string', maxLength },
  },
};

/** The headers that every response of the API has. */
export const everyResponse = {
  'x-request-id': { $ref: '#/components/headers/RequestId' },
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/AllowedOrigin' },
};

/**
 * The headers that tell how many changes a domain or a user may still make. Responses have them on a stage that limits changes, and if a function answers 429.
 */
export const rateLimitHeaders = optionalTextHeaders({
  'RateLimit-Policy':
    'The limit of the domain, such as `"domain-changes";q=80;w=2`, or the share of the user that is used up, such as ' +
    '`"user-changes";q=40;w=2`. Absent from responses of API Gateway itself.',
  RateLimit: 'What remains of the limit, such as `"domain-changes";r=0;t=2`. Absent from responses of API Gateway itself.',
});

/** Returns the description of the header ETag if the responses of the endpoint have one. */
export const etagHeader = ({ etag }: Route): Record<string, string> =>
  etag ? { ETag: 'The strong entity tag of the response. It changes whenever what you see of the resource changes.' } : {};

/** The OpenAPI object of the header that marks an answer as given again. */
export const replayedHeaderObject = {
  [replayedHeader]: {
    description: 'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', enum: ['true'] },
  },
};
