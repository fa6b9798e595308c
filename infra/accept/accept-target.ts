import type { DomainManager } from '../../shared/domains/domain-manager.ts';
import type { AcceptClient } from './accept-client.ts';
import type { Finding } from './finding.ts';

/** The service that an acceptance measures: the one on this machine, or a deployed stage. */
export interface AcceptTarget {
  /** The address of the API. */
  url: string;
  /** Makes the domain. Returns a token of its administrator. */
  administrator: (domain: string) => Promise<string>;
  domains: DomainManager;
  /** The limit of changes of a domain. Undefined: it has none. */
  limit: { changesPerSecond: number; burst: number } | undefined;
  /** Measures what only AWS has, after the other checks. */
  checkAws: (domain: string, measured: Measured) => Promise<void>;
}

export interface Measured {
  client: AcceptClient;
  /** When the first check began, in milliseconds since the Unix epoch. */
  since: number;
  onFinding: (finding: Finding) => void;
}
