import { invalid, ServiceError } from '../runtime/errors.ts';

const defaultLimitInBytes = 256 * 1024;

/** The most levels of nesting in a body. No body of this API has more, and JSON.parse takes seconds for megabytes of brackets. */
const mostLevels = 32;

interface RawBody {
  headers: Record<string, string | undefined>;
  body?: unknown;
  isBase64Encoded: boolean;
}

/**
 * Returns the text of a request's body, which must be JSON.
 * @throws ServiceError `unsupported_media_type`, `too_large`; `invalid_request` for an empty body, invalid UTF-8 or deep nesting
 */
export function readBody({ headers, body, isBase64Encoded }: RawBody, limitInBytes = defaultLimitInBytes): string {
  const type = headers['content-type'];
  if (type && !/^application\/json[ \t]*(;|$)/i.test(type)) throw notJson();
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) {
    throw new ServiceError('unsupported_media_type', 'Expected a body without content-encoding.');
  }
  if (typeof body !== 'string' || body === '') throw invalid('', 'Expected JSON.');
  const size = Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
  refuseLarger(size, limitInBytes);
  if (!type) throw notJson();
  const text = isBase64Encoded ? decoded(body) : body;
  if (isDeeper(text, mostLevels)) throw invalid('', `Expected at most ${mostLevels} levels of nesting.`);
  return text;
}

/**
 * Refuses a body with more bytes than the limit.
 * @throws ServiceError `too_large`
 */
export function refuseLarger(size: number, limitInBytes = defaultLimitInBytes): void {
  if (size > limitInBytes) throw new ServiceError('too_large', `The body has ${size} bytes. The limit is ${limitInBytes} bytes.`);
}

function notJson(): ServiceError {
  return new ServiceError('unsupported_media_type', 'Expected content-type: application/json.');
}

function decoded(base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    throw invalid('', 'Expected UTF-8.');
  }
}

function isDeeper(json: string, levels: number): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < json.length; index++) {
    const character = json[index];
    if (isInText) {
      if (character === '\\') index++;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth--;
    if (depth > levels) return true;
  }
  return false;
}

/**
 * Returns the error for malformed JSON. It says where the JSON is wrong, never what it contains. Lines and columns begin at 1.
 */
export function malformedJson(text: string): ServiceError {
  const offset = malformedAt(text);
  const before = text.slice(0, offset).split('\n');
  const place = `line ${before.length}, column ${Array.from(before.at(-1) ?? '').length + 1}`;
  const problem = offset === text.length ? `The text ends too early, at ${place}` : `The error is at ${place}`;
  return invalid('', `Expected well-formed JSON. ${problem}.`);
}

const space = /[ \t\n\r]*/y;
const comma = /,/y;
const colon = /:/y;
const quote = /"/y;
const plainText = /[^"\\\u0000-\u001f]*/y;
const backslash = /\\/y;
const escaped = /["\\/bfnrt]/y;
const unicode = /u/y;
const hexDigit = /[0-9a-fA-F]/y;
const minus = /-/y;
const integer = /0|[1-9][0-9]*/y;
const point = /\./y;
const digits = /[0-9]+/y;
const exponent = /[eE][+-]?/y;

/**
 * Returns where a text stops being JSON: the offset of the first character that cannot follow those before it, or the length if
 * the text ends too early. JSON.parse gives no position for most errors.
 * @param text malformed JSON with few levels of nesting, because each level is a recursion
 */
export function malformedAt(text: string): number {
  let at = 0;
  const take = (expression: RegExp): boolean => {
    expression.lastIndex = at;
    if (!expression.test(text)) return false;
    at = expression.lastIndex;
    return true;
  };
  const takeSpaced = (expression: RegExp): boolean => take(space) && take(expression);
  const takeWord = (word: string): boolean => Array.from(word).every((letter) => text[at] === letter && ++at > 0);
  const takeUnicode = (): boolean => take(unicode) && [1, 2, 3, 4].every(() => take(hexDigit));

  const takeString = (): boolean => {
    if (!takeSpaced(quote)) return false;
    while (take(plainText) && take(backslash)) if (!take(escaped) && !takeUnicode()) return false;
    return take(quote);
  };
  const takeNumber = (): boolean => {
    take(minus);
    if (!take(integer)) return false;
    if (take(point) && !take(digits)) return false;
    return !take(exponent) || take(digits);
  };
  const takeList = (takeEntry: () => boolean, end: RegExp): boolean => {
    if (takeSpaced(end)) return true;
    do if (!takeEntry()) return false;
    while (takeSpaced(comma));
    return take(end);
  };
  const takeMember = (): boolean => takeString() && takeSpaced(colon) && takeValue();
  const takeValue = (): boolean => {
    take(space);
    switch (text[at]) {
      case '{':
        at++;
        return takeList(takeMember, /\}/y);
      case '[':
        at++;
        return takeList(takeValue, /\]/y);
      case '"':
        return takeString();
      case 't':
        return takeWord('true');
      case 'f':
        return takeWord('false');
      case 'n':
        return takeWord('null');
      default:
        return takeNumber();
    }
  };
  if (takeValue()) take(space);
  return at;
}
