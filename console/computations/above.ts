import { addressOf } from '../routing/places.ts';

/** The way up from a computation. */
export function aboveComputation(domain: string) {
  return [
    { text: domain, href: addressOf({ screen: 'computations', domain }) },
    { text: 'Computations', href: addressOf({ screen: 'computations', domain }) },
  ];
}
