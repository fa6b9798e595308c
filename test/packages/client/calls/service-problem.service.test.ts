import { expect, it } from 'vitest';
import { causeOf } from '../../../../packages/client/calls/service-problem.ts';

const refused = new Error('connect ECONNREFUSED ::1:9');

it.each([
  ['the message of an error', refused, refused.message],
  ['the message of its cause', new TypeError('fetch failed', { cause: refused }), refused.message],
  [
    'the first of several addresses that all refuse',
    new TypeError('fetch failed', { cause: new AggregateError([refused, new Error('other')]) }),
    refused.message,
  ],
  [
    'a server without TLS in place of what OpenSSL says',
    new TypeError('fetch failed', {
      cause: Object.assign(new Error('SSL routines: wrong version number'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
    }),
    'the server does not use https',
  ],
  ['the name of an error that says nothing', new RangeError(''), 'RangeError'],
  ['what was thrown', 'text', 'text'],
])('the cause is %s', (_, error, text) => {
  expect(causeOf(error)).toBe(text);
});
