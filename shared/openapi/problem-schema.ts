import * as v from 'valibot';
import { conflictReasons, errorCodes } from '../errors.ts';
import { identifier } from '../identifier-schemas.ts';
import { missingItemsSchema } from '../manifest/manifest.ts';

/** As shared/http/problem.ts truncates them. */
const truncatedText = (what: string) => v.pipe(v.string(), v.description(what), v.metadata({ maxLength: 1_001 }));

const violation = v.pipe(
  v.object({
    pointer: truncatedText(
      'A JSON Pointer into the body, or a place such as `query/limit`, `path/domainID` or `header/if-match`.',
    ),
    detail: truncatedText('What was expected at this place.'),
  }),
  v.title('Violation'),
  v.description('An invalid place in a request.'),
);

/** The body of every error of this service (RFC 9457). */
export const problemSchema = v.pipe(
  v.object({
    type: v.pipe(
      v.string(),
      v.description('The type of the error. `code` distinguishes errors.'),
      v.metadata({ maxLength: 200, format: 'uri-reference', examples: ['about:blank'] }),
    ),
    title: v.pipe(v.string(), v.description('A short name of the error.'), v.metadata({ maxLength: 200 })),
    status: v.pipe(v.number(), v.integer(), v.description('The HTTP status code.'), v.metadata({ minimum: 400, maximum: 599 })),
    detail: truncatedText('A description of the error. The text may change.'),
    code: v.pipe(v.picklist(errorCodes), v.description('The error code for programs. It does not change.')),
    request_id: v.pipe(v.string(), v.description('The identifier of the request.'), v.metadata({ maxLength: 200 })),
    errors: v.optional(
      v.pipe(
        v.array(violation),
        v.description('The places in the request that are invalid (400).'),
        v.metadata({ maxItems: 20 }),
      ),
    ),
    reason: v.optional(v.pipe(v.picklist(conflictReasons), v.description('The kind of conflict (409).'))),
    run_id: v.optional(v.pipe(identifier, v.description('The run that causes the conflict (409).'))),
    manifest_digest: v.optional(
      v.pipe(
        v.string(),
        v.description('The current digest of the manifest (409 `stale_digest`).'),
        v.metadata({ maxLength: 64 }),
      ),
    ),
    missing_items: v.optional(missingItemsSchema),
  }),
  v.title('Problem'),
  v.description('An error (RFC 9457).'),
);
