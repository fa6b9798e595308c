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
