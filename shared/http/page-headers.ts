export interface PagePolicy {
  /** Besides that of the page. */
  connectTo?: readonly string[];
  /** Default: nowhere. */
  submitTo?: readonly string[];
}

/**
 * A page loads its own files, and calls the origins that it names. Scripts set styles by the object model; the policy refuses
 * inline scripts and styles.
 */
export function contentSecurityPolicy({ connectTo = [], submitTo = ["'none'"] }: PagePolicy = {}): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${["'self'", ...connectTo].join(' ')}`,
    "base-uri 'none'",
    `form-action ${submitTo.join(' ')}`,
    "frame-ancestors 'none'",
  ].join('; ');
}

export function pageHeaders(policy: PagePolicy = {}): Map<string, string> {
  return new Map([
    ['content-security-policy', contentSecurityPolicy(policy)],
    ['cross-origin-opener-policy', 'same-origin'],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
  ]);
}
