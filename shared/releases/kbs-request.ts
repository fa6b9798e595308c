import { domainId, identifier } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import type { Received } from '../http/endpoint.ts';
import { parseInput } from '../http/parse.ts';
import { notFound, RateLimitError } from '../runtime/errors.ts';

const cookieName = 'kbs-session-id';
const pathOf = v.object({ domainID: domainId });

/**
 * Returns the domain of a request of the key broker protocol, which no authorizer has checked.
 * @throws ServiceError `invalid_request`; RateLimitError if the domain has too many such requests
 */
export function admittedDomain({ path, now }: { path: Record<string, string>; now: string }): string {
  const { domainID } = parseInput(pathOf, path, 'path');
  admitKeyRequest(domainID, Date.parse(now));
  return domainID;
}

/** Returns the header that gives a client its session. */
export const sessionCookie = (domain: string, session: string) => `${cookieName}=${session}; Path=/${domain}/kbs/v0; HttpOnly`;

/** Returns the token and the session that come with a request, unchecked. */
export function credentialsIn({ headers, cookies }: Received): { token: string | undefined; cookie: string | undefined } {
  const [, token] = /^bearer +(\S+) *$/i.exec(headers['authorization'] ?? '') ?? [];
  const given = cookies.flatMap((each) => each.split(';')).map((each) => each.trim());
  const cookie = given.find((each) => each.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
  return { token, cookie: cookie !== undefined && /^[\w-]{43}$/.test(cookie) ? cookie : undefined };
}

/** Returns the asset in the path of a key, `{asset}/key/1`, also after another slash. @throws ServiceError `not_found` for other paths */
export function assetIn(resource: string): string {
  const [, asset] = /^\/?([^/]+)\/key\/1$/.exec(resource) ?? [];
  const parsed = v.safeParse(identifier, asset?.toLowerCase());
  if (!parsed.success) throw notFound('key');
  return parsed.output;
}

/** The requests of CVMs for keys that a process of the service takes in a domain: at once, and per second. */
const burst = 60;
const perSecond = 10;
const millisecondsToFill = (burst / perSecond) * 1_000;
const mostDomains = 10_000;

const fullAt = new Map<string, number>();

/**
 * Admits a request for keys, unless the domain has too many. Counts in the memory of the process: a stranger's request must not cost a write.
 * @param now in milliseconds since 1970
 * @throws RateLimitError
 */
export function admitKeyRequest(domain: string, now: number): void {
  const noted = fullAt.get(domain) ?? now;
  const isOfOtherTime = noted > now + millisecondsToFill; // the clock was set back
  const before = isOfOtherTime ? now : Math.max(noted, now);
  const wait = before + 1_000 / perSecond - (now + millisecondsToFill);
  if (wait > 0) {
    const headers = { 'retry-after': String(Math.ceil(wait / 1_000)) };
    throw new RateLimitError(
      `The domain ${domain} has more than ${perSecond} requests for keys per second. Try again later.`,
      headers,
    );
  }
  if (!fullAt.has(domain) && fullAt.size >= mostDomains) fullAt.clear();
  fullAt.delete(domain);
  fullAt.set(domain, before + 1_000 / perSecond);
}
