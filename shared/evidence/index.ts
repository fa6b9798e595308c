export { publicJwkSchema, readPublishedKeys } from './signing-key.ts';
