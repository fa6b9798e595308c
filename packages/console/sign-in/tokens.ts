import type { TokenSet } from 'computation-management-client';
import { hasTexts, stored } from './stored.ts';

/** The tokens of this tab's user. */
export const storedTokens = stored<TokenSet>('tokens', (content) =>
  hasTexts(content, ['access_token']) && hasNumber(content, 'expires_at') ? content : undefined,
);

function hasNumber<Content extends object, Name extends string>(
  content: Content,
  name: Name,
): content is Content & Record<Name, number> {
  return typeof (content as Record<string, unknown>)[name] === 'number';
}
