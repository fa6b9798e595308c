import * as v from 'valibot';
import { identifier } from '../identifier-schemas.ts';

const hash = v.pipe(
  v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
  v.length(32),
  v.description('SHA3-256 of the file as 32 integers from 0 to 255.'),
);

const userKey = v.pipe(
  v.string(),
  v.base64(),
  v.minLength(1),
  v.description('Base64 of the public key as DER SubjectPublicKeyInfo.'),
);

/** What a CVM's agent is told, in the form that it and its checking tools read. A manifest outside this schema would end the agent's process. */
export const manifestSchema = v.object({
  id: identifier,
  name: v.string(),
  description: v.string(),
  datasets: v.array(v.object({ hash, user_key: userKey, filename: v.pipe(v.string(), v.minLength(1)) })),
  algorithm: v.object({ hash, user_key: userKey }),
  result_consumers: v.pipe(v.array(v.object({ user_key: userKey })), v.minLength(1)),
});
export type Manifest = v.InferOutput<typeof manifestSchema>;

/** What a run still lacks (endpoint 12). All empty: ready to run. */
export const missingItemsSchema = v.object({
  keys: v.pipe(v.array(v.string()), v.description('Users whose public key the manifest needs and lacks.')),
  hashes: v.pipe(v.array(v.string()), v.description('File names of linked assets whose content has not arrived.')),
  info: v.pipe(v.array(v.string()), v.description('What else is missing, as sentences.'), v.examples([['Missing algorithm']])),
});
export type MissingItems = v.InferOutput<typeof missingItemsSchema>;
