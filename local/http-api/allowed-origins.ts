import type { AllowsOrigin } from './cors.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';

const ofThisMachine = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/**
 * Allows web pages of this machine on any port, and of the given origins. A page needs a token too, and only the command line
 * gets one without an issuer.
 */
export function allowedOrigins(more: readonly string[] = []): AllowsOrigin {
  return (origin) => ofThisMachine.test(origin) || more.includes(origin);
}

/** Returns the origins as a browser sends them. @throws UsageError for anything that is not an origin */
export function parseOrigins(given: readonly string[]): string[] {
  return given.map((text) => {
    const { origin, href } = URL.parse(text) ?? {};
    if (origin !== undefined && /^https?:/.test(origin) && href === `${origin}/`) return origin;
    throw new UsageError(`--cors-origin is ${JSON.stringify(text)}; expected an origin such as https://app.example.com.`);
  });
}
