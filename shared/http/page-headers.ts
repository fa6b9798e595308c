import { extname } from 'node:path';
/**
 * The settings of a web page whose security headers differ from the default: which origins it may call, and where it may submit
 * forms.
 */
export interface PagePolicy {
  /** The origins that a web page may call, besides its own. Default: none. */
  connectTo?: readonly string[];
  /** The origins to which a web page may submit forms, as sources of a Content-Security-Policy. Default: none. */
  submitTo?: readonly string[];
}

/**
 * Returns the Content-Security-Policy of a web page. The page may load its own files and call the origins that it names. Inline
 * scripts and styles are refused; scripts may set styles by the object model.
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

/** Returns the security headers of a web page. */
export function pageHeaders(policy: PagePolicy = {}): Map<string, string> {
  return new Map([
    ['content-security-policy', contentSecurityPolicy(policy)],
    ['cross-origin-opener-policy', 'same-origin'],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
  ]);
}

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Returns the content type of a file by the ending of its name. Default: application/octet-stream. */
export const contentTypeOf = (file: string): string => contentTypes[extname(file)] ?? 'application/octet-stream';
