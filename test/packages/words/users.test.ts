import { userText } from 'computation-management-words';
import { describe, expect, it } from 'vitest';

describe('userText', () => {
  it.each([
    ['alice', 'alice'],
    ['alice@example.com', 'alice@example.com'],
    ['auth0|12', '"auth0|12"'],
    ['alice ', '"alice\\u{0020}"'],
    ['alice\u200b', '"alice\\u{200B}"'],
    ['\u0430lice', '"\\u{0430}lice"'],
    ['\uff41lice', '"\\u{FF41}lice"'],
    ['\\u{430}lice', '"\\\\u{430}lice"'],
    ['dataset', '"dataset"'],
  ])('writes %j as %s', (user, text) => {
    expect(userText(user)).toBe(text);
  });
});
