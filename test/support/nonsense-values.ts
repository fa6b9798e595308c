import fc from 'fast-check';

const nastyTexts = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '../../etc/passwd',
    '..',
    '.',
    '%2e%2e%2f',
    'a/b',
    'a\\b',
    "'; DROP TABLE x; --",
    '{{7*7}}',
    '${jndi:x}',
  ],
  ...['😀👩‍👩‍👧‍👦🏳️‍🌈', '\ud800', 'a\udc00b', '\u202eevil\u202c', 'שלום עולם', 'مرحبا', '\ufeff', '\u2028', 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍', '\r\nx: y', '\x1b[31m'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    'NaN',
    'true',
    '-1',
    '1e309',
    '0x10',
    '９',
    '#',
    '?',
    '&',
    '=',
    '+',
    '%',
    '%zz',
  ],
  ...['x'.repeat(70), 'é'.repeat(300), '😀'.repeat(5_000), '<script>alert(1)</script>', 'SELECT#1', 'computation#x', '*', '|'],
];
/** Text that may cause problems for storage, parsers, addresses or people. */
export const nastyText = fc.oneof(
  fc.constantFrom(...nastyTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

const nastyNumbers = [0, -0, -1, 101, 1e21, 1e308, -1e308, 2 ** 53, 0.1, Number.MIN_VALUE];
/** Values of every type, hardly any of them valid. */
export const nastyJson: fc.Arbitrary<unknown> = fc.oneof(
  nastyText,
  fc.constantFrom(...nastyNumbers, null, true, false, [], {}, [[]], [null], { length: 1 }, { toString: 1 }, { then: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Bodies that are not JSON, not an object, or difficult for parsers. */
export const brokenBodies = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '[]',
    '""',
    'null',
    'true',
    '0',
    'NaN',
    '{"name":}',
    "{'name':'x'}",
    '{"name":"x"',
    '{"name":"x"}}',
    '\ufeff{}',
    '\0',
  ],
  ...[
    '{"__proto__":{"admin":true},"name":"x"}',
    '{"constructor":{"prototype":{"x":1}},"name":"x"}',
    '{"name":"x","name":5}',
    '{"a":1e999}',
  ],
  ...[
    '['.repeat(20_000),
    '{"a":'.repeat(20_000),
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    `{"name":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
  ],
  ...['name=x&b=c', '<a/>', '--x\r\nContent-Disposition: form-data\r\n\r\n', '{"name":"\ud800"}', '"\\ud800"', '{"\\u0000":1}'],
];

export const contentTypes = [
  ...[
    '',
    'application/json; charset=latin1',
    'APPLICATION/JSON',
    'application/problem+json',
    'text/plain',
    'text/json',
    'application/xml',
  ],
  ...[
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    '*/*',
    'application/json,text/html',
    '😀',
    ';',
    'x'.repeat(2_000),
  ],
];

export const oddHeaders: Record<string, string>[] = [
  ...[
    { accept: 'text/html' },
    { 'content-encoding': 'gzip' },
    { 'accept-encoding': 'br;q=NaN' },
    { 'x-forwarded-for': '../../' },
  ],
  ...[{ 'if-none-match': '*' }, { 'if-none-match': 'W/"""' }, { 'if-match': '"a", *' }, { 'if-match': '"é"' }],
  ...[{ range: 'bytes=0-1' }, { cookie: 'a=b; __proto__=c' }, { 'x-http-method-override': 'DELETE' }],
  ...[
    { 'x-amz-date': 'x' },
    { 'x-request-id': '<script>' },
    { origin: 'null' },
    { host: 'evil.example' },
    { 'x-long': 'x'.repeat(5_000) },
  ],
];
