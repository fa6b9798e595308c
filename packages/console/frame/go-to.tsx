import { Link } from '@cloudscape-design/components';
import type { ReactNode } from 'react';
import { useDomain } from '../access/index.ts';
import { addressOf, type Place } from '../routing/index.ts';

type Within<Each> = Each extends { domain: string } ? Omit<Each, 'domain'> : never;

/** Shows a link to another screen of the domain. */
export function GoTo({ place, children }: { place: Within<Place>; children: ReactNode }) {
  const { domain } = useDomain();
  return <Link href={addressOf({ ...place, domain })}>{children}</Link>;
}
