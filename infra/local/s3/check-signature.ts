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

/**
 * Lets a presigned request (Signature Version 4 in the query) through only unchanged, with every header it was signed with,
 * and in time. Requests signed in a header come from the SDK's clients and are taken as they are.
 * @throws S3Error 403
 */
export function checkSignature(request: SignedRequest, now = Date.now()): void {
  const query = new URLSearchParams(request.rawQueryString);
  const given = query.get('X-Amz-Signature');
  if (given === null) {
    if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')) return;
    throw new S3Error(403, 'AccessDenied', 'Access Denied');
  }
  const [accessKeyId, ...scope] = (query.get('X-Amz-Credential') ?? '').split('/');
  if (accessKeyId !== localCredentials.accessKeyId) {
    throw new S3Error(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  }
  const signedAt = query.get('X-Amz-Date') ?? '';
  if (signature(request, query, signedAt, scope) !== given) {
    const message = 'The request signature we calculated does not match the signature you provided.';
    throw new S3Error(403, 'SignatureDoesNotMatch', message);
  }
  const expires = Date.parse(signedAt.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(now < expires + Number(query.get('X-Amz-Expires')) * 1_000))
    throw new S3Error(403, 'AccessDenied', 'Request has expired');
}

function signature(request: SignedRequest, query: URLSearchParams, signedAt: string, scope: string[]): string {
  const signedHeaders = query.get('X-Amz-SignedHeaders') ?? '';
  const headers = signedHeaders.split(';').map((name) => {
    const value = [request.headers[name] ?? ''].flat().join(',');
    return `${name}:${value.trim().replaceAll(/ +/g, ' ')}\n`;
  });
  const canonicalQuery = [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`)
    .sort()
    .join('&');
  const payload = query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD';
  const canonical = [request.method, request.rawPath, canonicalQuery, headers.join(''), signedHeaders, payload].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', signedAt, scope.join('/'), createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = scope.reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${localCredentials.secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function percentEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
