import { invalid } from '../runtime/errors.ts';
import { createHash } from 'node:crypto';

/** A header that makes a request conditional (RFC 9110, section 13). */
export type ConditionalHeader = 'if-match' | 'if-none-match';

/** A function that returns whether a conditional header names one of these entity tags, which must be strong. */
export type Names = (...etags: string[]) => boolean;

/**
 * Parses the value of If-Match or If-None-Match: `*` or a list of entity tags. `*` names every tag. If-Match never names a tag by
 * a weak one, and compares only the part of a tag that stands for the state. If-None-Match accepts weak tags and compares the
 * whole tag.
 * @throws ServiceError `invalid_request` that names the header
 */
export function parseCondition(header: ConditionalHeader, value: string): Names {
  if (value.trim() === '*') return () => true;
  const tags = parseEntityTags(header, value);
  if (header === 'if-none-match') return namesOneOf(tags.map(({ opaque }) => opaque));
  const states = namesOneOf(tags.flatMap(({ isWeak, opaque }) => (isWeak ? [] : [etagOfState(opaque)])));
  return (...etags) => states(...etags.map(etagOfState));
}

function namesOneOf(tags: string[]): Names {
  const named = new Set(tags);
  return (...etags) => etags.some((etag) => named.has(etag));
}

interface EntityTag {
  isWeak: boolean;
  /** The text of an entity tag with its quotes, without the prefix `W/` of a weak tag. */
  opaque: string;
}

/**
 * Parses the list of entity tags in the header If-Match or If-None-Match. A tag may contain commas, and a list may have empty
 * elements (RFC 9110, sections 5.6.1 and 8.8.3).
 */
function parseEntityTags(header: ConditionalHeader, value: string): EntityTag[] {
  const element = /[ \t]*(?:(W\/)?("[!\u0023-\u007e\u0080-\uffff]*")[ \t]*)?(?:,|$)/y;
  const tags: EntityTag[] = [];
  while (element.lastIndex < value.length) {
    const match = element.exec(value);
    if (!match) throw malformed(header);
    const [, weak, opaque] = match;
    if (opaque !== undefined) tags.push({ isWeak: weak !== undefined, opaque });
  }
  if (tags.length === 0) throw malformed(header);
  return tags;
}

const malformed = (header: ConditionalHeader) =>
  invalid(`header/${header}`, 'Expected * or a list of entity tags in double quotes, such as "a", "b".');

/**
 * Makes the strong ETag of a resource: 192 bits of the SHA-256 of the state's JSON. The fields must always be in the same order.
 * @param notCompared the parts of the answer that If-Match ignores. Their hash follows after a dot
 */
export const etagOf = (state: unknown, notCompared?: unknown): string =>
  notCompared === undefined ? `"${hashOf(state)}"` : `"${hashOf(state)}.${hashOf(notCompared)}"`;

const hashOf = (shown: unknown) =>
  createHash('sha256').update(JSON.stringify(shown)).digest().subarray(0, 24).toString('base64url');

/** Returns the part of an ETag that If-Match compares: the ETag without what follows the dot. */
export const etagOfState = (etag: string): string => etag.replace(/\..*$/s, '"');
