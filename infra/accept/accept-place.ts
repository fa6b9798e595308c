import type { Table } from '../../shared/table/table.ts';
import type { DomainPlace } from '../domains/domain-place.ts';
import type { Stage } from '../stages.ts';

/** Where an acceptance runs. */
export interface AcceptPlace {
  /** The address of the API. */
  url: string;
  /** Returns a token of the domain's administrator. */
  administrator: (domain: string) => Promise<string>;
  domains: DomainPlace;
  /** What only AWS has. Undefined on one machine. */
  aws?: { stage: Stage; table: Table };
}
