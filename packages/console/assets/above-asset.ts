import { addressOf } from '../routing/places.ts';

/** The way up from an asset. */
export function aboveAsset(domain: string) {
  return [{ text: 'Assets', href: addressOf({ screen: 'assets', domain }) }];
}
