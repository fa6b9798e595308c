import { described, namedInput, text } from 'computation-management-formats/fields';
import * as v from 'valibot';

const base64Url = (most: number, what: string) =>
  v.pipe(
    v.string(),
    v.regex(/^[\w-]*$/, 'Expected base64url.'),
    v.maxLength(most),
    v.description(what),
    v.metadata({ maxLength: most }),
  );

/** Schema of a sealed key: a JWE in its flattened form (RFC 7516, section 7.2.2). */
export const jwe = namedInput('SealedKey', 'A key, encrypted for the TEE that asks: a flattened JWE with A256GCM.', {
  protected: base64Url(2_048, 'The header.'),
  encrypted_key: base64Url(2_048, 'The encrypted content key.'),
  iv: base64Url(16, 'The nonce.'),
  ciphertext: base64Url(64, 'The encrypted key of the asset.'),
  tag: base64Url(22, 'The tag.'),
});

const refusal = described(text(1, 1_000), 'Why the broker refuses, as a sentence.');

/** Schema of the answer of a broker to a request for a key. */
export const brokersAnswer = v.pipe(
  v.variant(
    'refusal',
    [
      namedInput('RefusedKey', 'An answer without the key.', { refusal }),
      namedInput('ReleasedKey', 'An answer with the key.', {
        refusal: v.optional(described(v.null_(), 'Omit it to answer with the key.')),
        jwe,
      }),
    ],
    'Expected a sentence, or no refusal beside a jwe.',
  ),
  v.title('BrokersAnswer'),
  v.description('The sealed key, or a refusal.'),
);
export type BrokersAnswer = v.InferOutput<typeof brokersAnswer>;
