import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { localCredentials } from '../local-credentials.ts';
import { S3Error } from './s3-error.ts';

interface SignedRequest {
  method: string;
  rawPath: string;
  rawQueryString: string;
  headers: IncomingHttpHeaders;
}

/** A signature and the values that it covers. */
interface Signature {
  given: string;
  credential: string;
  signedAt: string;
  signedHeaders: string[];
  /** The hash of the body, as the signer gave it. */
  payload: string;
  /** Milliseconds since the epoch. The signature has expired from this time on. */
  validUntil: number;
  /** Milliseconds since the epoch. The signature is not valid until after this time. */
  validFrom: number;
}

const clockToleranceInMilliseconds = 15 * 60_000;

/**
 * Checks a request that is signed with Signature Version 4, in its query or in a header. It must be unchanged and in time, have
 * every header that it was signed with, and have no other `x-amz-` header.
 * @returns what the signature says of the body: its SHA-256 in hexadecimal, or that it is not signed. See `checkedBody`.
 * @throws S3Error 403
 */
export function checkSignature(request: SignedRequest, now = Date.now()): string {
  const query = new URLSearchParams(request.rawQueryString);
  const signature = inQuery(query) ?? inHeader(request.headers);
  if (signature === undefined) throw new S3Error(403, 'AccessDenied', 'Access Denied');
  const [accessKeyId, ...scope] = signature.credential.split('/');
  if (accessKeyId !== localCredentials.accessKeyId) {
    throw new S3Error(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  }
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !signature.signedHeaders.includes(name),
  );
  if (unsigned.length > 0 || !signature.signedHeaders.includes('host')) {
    throw new S3Error(403, 'AccessDenied', 'There were headers present in the request which were not signed');
  }
  if (expected(request, query, signature, scope) !== signature.given) {
    const message = 'The request signature we calculated does not match the signature you provided.';
    throw new S3Error(403, 'SignatureDoesNotMatch', message);
  }
  if (!(now < signature.validUntil)) throw new S3Error(403, 'AccessDenied', 'Request has expired');
  if (!(now > signature.validFrom)) throw new S3Error(403, 'AccessDenied', 'Request is not valid yet');
  return signature.payload;
}

function inQuery(query: URLSearchParams): Signature | undefined {
  const given = query.get('X-Amz-Signature');
  if (given === null) return undefined;
  const signedAt = query.get('X-Amz-Date') ?? '';
  return {
    given,
    credential: query.get('X-Amz-Credential') ?? '',
    signedAt,
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    payload: query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
    validUntil: timeOf(signedAt) + Number(query.get('X-Amz-Expires')) * 1_000,
    validFrom: timeOf(signedAt) - clockToleranceInMilliseconds,
  };
}

function inHeader(headers: IncomingHttpHeaders): Signature | undefined {
  const parts = /^AWS4-HMAC-SHA256 +Credential=([^, ]+), *SignedHeaders=([^, ]+), *Signature=([0-9a-f]+)$/.exec(
    headers.authorization ?? '',
  );
  if (!parts) return undefined;
  const [, credential = '', signedHeaders = '', given = ''] = parts;
  const signedAt = String(headers['x-amz-date'] ?? '');
  return {
    given,
    credential,
    signedAt,
    signedHeaders: signedHeaders.split(';'),
    payload: String(headers['x-amz-content-sha256'] ?? ''),
    validUntil: timeOf(signedAt) + clockToleranceInMilliseconds,
    validFrom: timeOf(signedAt) - clockToleranceInMilliseconds,
  };
}

function timeOf(signedAt: string): number {
  return Date.parse(signedAt.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function expected(request: SignedRequest, query: URLSearchParams, signature: Signature, scope: string[]): string {
  const { signedAt, signedHeaders, payload } = signature;
  const headers = signedHeaders.map((name) => {
    const value = [request.headers[name] ?? ''].flat().join(',');
    return `${name}:${value.trim().replaceAll(/ +/g, ' ')}\n`;
  });
  const canonicalQuery = [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`)
    .sort()
    .join('&');
  const lines = [request.method, request.rawPath, canonicalQuery, headers.join(''), signedHeaders.join(';'), payload];
  const digest = createHash('sha256').update(lines.join('\n')).digest('hex');
  const toSign = ['AWS4-HMAC-SHA256', signedAt, scope.join('/'), digest].join('\n');
  const key = scope.reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${localCredentials.secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function percentEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
