import { cvmId, domainId } from 'computation-management-formats/identifiers';
import { parseMembership } from 'computation-management-formats/roles';
import * as v from 'valibot';

/** A membership that the service understands. */
export const membership = v.pipe(
  v.string(),
  v.check((text) => {
    const { domain, boundTo } = parseMembership(text) ?? {};
    return v.is(domainId, domain) && (boundTo === undefined || v.is(cvmId, boundTo));
  }, 'Expected <domainID>:<role>, such as d1:viewer, or <domainID>:cvm:<cvmID>, such as d1:cvm:cvm-1.'),
);
