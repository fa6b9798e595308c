import * as v from 'valibot';

/** Whether a text is base64 (RFC 4648, section 4, with padding). */
export function isBase64(text: string): boolean {
  // Without a repeated group, which would overflow the stack of the expression on megabytes of text.
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/** A text in base64. v.base64 ignores the case of letters in Unicode, so that it takes some that no base64 has. */
export const base64Text = v.pipe(v.string(), v.check(isBase64, 'Expected base64.'), v.metadata({ contentEncoding: 'base64' }));
