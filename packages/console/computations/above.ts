import { addressOf } from '../routing/places.ts';

/** The way up from a computation. */
export function aboveComputation(domain: string) {
  return [{ text: 'Computations', href: addressOf({ screen: 'computations', domain }) }];
}
