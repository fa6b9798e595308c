import { describe, expect, it } from 'vitest';
import { malformedJson } from '../../../shared/http/malformed-json.ts';

describe('malformedJson', () => {
  it.each([
    ['{"name": "x",}', 'Expected well-formed JSON. The error is at line 1, column 14.'],
    ['{\n  "näme🦊": "x",\n  "owner" "y"\n}', 'Expected well-formed JSON. The error is at line 3, column 11.'],
    ['{"🦊": x}', 'Expected well-formed JSON. The error is at line 1, column 7.'],
    ['{\n  "name": "x"', 'Expected well-formed JSON. The text ends too early, at line 2, column 14.'],
  ])('says where %j is malformed', (text, detail) => {
    expect(malformedJson(text)).toMatchObject({
      code: 'invalid_request',
      message: `The body: ${detail}`,
      extras: { errors: [{ pointer: '', detail }] },
    });
  });
});
