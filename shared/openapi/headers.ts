import type { JsonSchema } from '@valibot/to-json-schema';
import { replayedHeader, type Route } from '../http/route.ts';
interface HeaderObject {
  description: string;
  required?: false;
  schema: JsonSchema;
}

/** API Gateway accepts 10,240 bytes of headers in total. */
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

/** API Gateway adds the second one. */
export const sharedHeaders: Record<string, HeaderObject> = {
  RequestId: { description: 'The identifier of the request.', schema: { type: 'string', maxLength } },
  AllowedOrigin: {
    description: 'The origin of the web page that sent the request, if the stage allows it.',
    required: false,
    schema: { type: 'string', maxLength },
  },
};

export const everyResponse = {
  'x-request-id': { $ref: '#/components/headers/RequestId' },
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/AllowedOrigin' },
};

/** On a stage that limits changes, and of the 429 of a function. */
export const rateLimitHeaders = optionalTextHeaders({
  'RateLimit-Policy':
    'The limit of the domain, such as `"domain-changes";q=80;w=2`, or the share of the user that is used up, such as ' +
    '`"user-changes";q=40;w=2`. Absent from responses of API Gateway itself.',
  RateLimit: 'What remains of the limit, such as `"domain-changes";r=0;t=2`. Absent from responses of API Gateway itself.',
});

export function etagHeader({ etag }: Route): Record<string, string> {
  return etag ? { ETag: 'The strong entity tag of the response. It changes whenever what you see of the resource changes.' } : {};
}

export const replayedHeaderObject = {
  [replayedHeader]: {
    description: 'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', enum: ['true'] },
  },
};
