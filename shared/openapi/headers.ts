import type { JsonSchema } from '@valibot/to-json-schema';

interface HeaderObject {
  description: string;
  required?: false;
  schema: JsonSchema;
}

/** The length of a header's value. API Gateway accepts 10,240 bytes of headers in total. */
const maxLength = 10_240;

/** Headers with texts, by name. */
export function textHeaders(descriptions: Record<string, string>): Record<string, HeaderObject> {
  const entries = Object.entries(descriptions);
  return Object.fromEntries(entries.map(([name, description]) => [name, { description, schema: { type: 'string', maxLength } }]));
}

/** The headers of every response of a function. API Gateway adds the second one. */
export const everyResponse: Record<string, HeaderObject> = {
  ...textHeaders({ 'x-request-id': 'The identifier of the request.' }),
  'Access-Control-Allow-Origin': {
    description: 'The origin of the web page that sent the request, if the stage allows it.',
    required: false,
    schema: { type: 'string', maxLength },
  },
};
