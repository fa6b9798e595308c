import type { IncomingMessage } from 'node:http';

/**
 * Returns the origin under which a browser on this machine reached the service. Undefined for any other host name, which a foreign
 * page may have pointed here (DNS rebinding).
 */
export function ownOrigin({ headers: { host = '' } }: IncomingMessage): string | undefined {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host) ? `http://${host}` : undefined;
}
