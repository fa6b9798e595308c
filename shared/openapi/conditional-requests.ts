import type { Contract } from '../http/contract.ts';
import type { ConditionalHeader } from '../http/preconditions.ts';

const etagExample = '"hKTs3cEVkLNaRVKE5KrTqkDbJdfAv1rZ"';
/** `*` or a list of entity tags. The service also takes lists with empty elements (shared/http/preconditions.ts). */
const entityTags = String.raw`^(?:\*|(?:W/)?"[!#-~]*"(?:[ \t]*,[ \t]*(?:W/)?"[!#-~]*")*)$`;

const described: Record<ConditionalHeader, { name: string; describe: (resource: string) => string }> = {
  'if-match': {
    name: 'If-Match',
    describe: (resource) =>
      `ETags that you received for ${resource}, or \`*\`. The request is refused with 412 if ${resource} has changed since.`,
  },
  'if-none-match': {
    name: 'If-None-Match',
    describe: (resource) =>
      `ETags that you received for ${resource}, or \`*\`. The response is 304 without a body if one of them is still current. A response with a presigned request is never 304.`,
  },
};

/** The parameter of the endpoint's conditional header, if it has one. */
export function conditionParameters({ condition, conditionOf = 'this resource' }: Contract) {
  if (!condition) return [];
  const { name, describe } = described[condition];
  return [
    {
      name,
      description: describe(conditionOf),
      in: 'header',
      required: false,
      schema: { type: 'string', pattern: entityTags, maxLength: 10_240, examples: [etagExample] },
    },
  ];
}

/** Descriptions of the ETag header, for the headers of a response. */
export function etagHeader({ etag }: Contract): Record<string, string> {
  return etag ? { ETag: 'The strong entity tag of the response. It changes whenever what you see of the resource changes.' } : {};
}
