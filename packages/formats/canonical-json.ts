import canonicalize from 'canonicalize';

/**
 * RFC 8785. Members without a value are left out, as in JSON.stringify.
 * @throws Error if a text has a lone surrogate, or a number is not finite
 */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}
