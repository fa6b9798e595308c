import type { JsonSchema } from '@valibot/to-json-schema';
import { replayedHeader, type Route } from '../http/route.ts';
interface HeaderObject {
  description: string;
  required?: false;
  schema: JsonSchema;
}

/** The length of a header's value. API Gateway accepts 10,240 bytes of headers in total. */
const maxLength = 10_240;

export function textHeaders(descriptions: Record<string, string>): Record<string, HeaderObject> {
  const entries = Object.entries(descriptions);
  return Object.fromEntries(entries.map(([name, description]) => [name, { description, schema: { type: 'string', maxLength } }]));
}

/** Headers with texts that a response may lack. */
export function optionalTextHeaders(descriptions: Record<string, string>): Record<string, HeaderObject> {
  return Object.fromEntries(
    Object.entries(textHeaders(descriptions)).map(([name, header]) => [name, { ...header, required: false as const }]),
  );
}

/** The headers that every response of a function has. API Gateway adds the second one. */
export const sharedHeaders: Record<string, HeaderObject> = {
  RequestId: { description: 'The identifier of the request.', schema: { type: 'string', maxLength } },
  AllowedOrigin: {
    description: 'The origin of the web page that sent the request, if the stage allows it.',
    required: false,
    schema: { type: 'string', maxLength },
  },
};

/** References to these headers, which are components of the document. */
export const everyResponse = {
  'x-request-id': { $ref: '#/components/headers/RequestId' },
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/AllowedOrigin' },
};

/** The headers of changes on a stage that limits them, and of the 429 of a function. */
export const rateLimitHeaders = optionalTextHeaders({
  'RateLimit-Policy':
    'The limit of the domain, such as `"domain-changes";q=80;w=2`, or the share of the user that is used up, such as ' +
    '`"user-changes";q=40;w=2`. Absent from responses of API Gateway itself.',
  RateLimit: 'What remains of the limit, such as `"domain-changes";r=0;t=2`. Absent from responses of API Gateway itself.',
});

/** Descriptions of the ETag header, for the headers of a response. */
export function etagHeader({ etag }: Route): Record<string, string> {
  return etag ? { ETag: 'The strong entity tag of the response. It changes whenever what you see of the resource changes.' } : {};
}

/** The response header of every endpoint that takes an Idempotency-Key. */
export const replayedHeaderObject = {
  [replayedHeader]: {
    description: 'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', enum: ['true'] },
  },
};
