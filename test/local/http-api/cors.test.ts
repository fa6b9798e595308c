import { describe, expect, it } from 'vitest';
import { allowedOrigins, parseOrigins } from '../../../local/http-api/http-messages.ts';
import { UsageError } from '../../../shared/command-line/arguments.ts';

describe('allowedOrigins', () => {
  it.each(['http://localhost:5173', 'http://localhost', 'https://127.0.0.1:8443', 'http://[::1]:3000'])(
    'allows %s, a page of this machine',
    (origin) => expect(allowedOrigins()(origin)).toBe(true),
  );

  it.each(['https://localhost.example.com', 'http://127.0.0.1.nip.io', 'null', 'http://localhost:5173/', 'file://', ''])(
    'refuses %j',
    (origin) => expect(allowedOrigins()(origin)).toBe(false),
  );

  it('allows the given origins too, and no other', () => {
    const allows = allowedOrigins(['https://app.example.com']);
    expect(['https://app.example.com', 'http://app.example.com', 'https://app.example.com:444'].map(allows)).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('parseOrigins', () => {
  it('returns origins as a browser sends them', () => {
    expect(parseOrigins(['https://App.example.com:443', 'http://a.example/'])).toEqual([
      'https://app.example.com',
      'http://a.example',
    ]);
  });

  it.each(['app.example.com', 'https://app.example.com/page', '*', 'file:///page.html', ''])(
    'throws UsageError for %j',
    (text) => {
      expect(() => parseOrigins([text])).toThrow(UsageError);
    },
  );
});
