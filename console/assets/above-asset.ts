import { addressOf } from '../routing/places.ts';

/** The way up from an asset. */
export function aboveAsset(domain: string) {
  return [
    { text: domain, href: addressOf({ screen: 'computations', domain }) },
    { text: 'Assets', href: addressOf({ screen: 'assets', domain }) },
  ];
}
