import * as v from 'valibot';
import { errorCodes } from '../errors.ts';
import { missingItemsSchema } from '../manifest/manifest.ts';

const violation = v.object({
  pointer: v.pipe(
    v.string(),
    v.description('A JSON Pointer into the body, or a place such as `query/limit`, `path/domainID` or `header/if-match`.'),
  ),
  detail: v.pipe(v.string(), v.description('What was expected at this place.')),
});

/** The body of every error of this service (RFC 9457). */
export const problemSchema = v.pipe(
  v.object({
    type: v.pipe(v.string(), v.examples(['about:blank'])),
    title: v.pipe(v.string(), v.description('A short name of the error.')),
    status: v.pipe(v.number(), v.integer(), v.description('The HTTP status code.')),
    detail: v.pipe(v.string(), v.description('What went wrong, in a sentence that may change.')),
    code: v.pipe(v.picklist(errorCodes), v.description('The error code for programs. It does not change.')),
    request_id: v.pipe(v.string(), v.description('The identifier of the request.')),
    errors: v.optional(v.pipe(v.array(violation), v.description('The places in the request that are invalid (400).'))),
    reason: v.optional(v.pipe(v.string(), v.description('The kind of conflict (409).'))),
    run_id: v.optional(v.pipe(v.string(), v.description('The run that is in the way (409).'))),
    manifest_digest: v.optional(v.pipe(v.string(), v.description('The present digest of the manifest (409 `stale_digest`).'))),
    missing_items: v.optional(missingItemsSchema),
  }),
  v.title('Problem'),
);
