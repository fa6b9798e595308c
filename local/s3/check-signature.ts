import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import { localCredentials } from '../machine/environment.ts';
import { S3Error } from './object-store.ts';

/** The fields of a Signature Version 4 of a request, from the query of a presigned URL or from the `authorization` header. */
interface Signature {
  given: string;
  credential: string;
  signedAt: string;
  signedHeaders: string[];
  /** The SHA-256 of the request's body in hexadecimal, or a word that says that the body is not signed or each part of it is. */
  payload: string;
  /** The seconds for which a presigned URL is valid. Undefined for a signature in a header. */
  validForSeconds: number | undefined;
}

const clockToleranceInMilliseconds = 15 * 60_000;

const parametersOfSignature = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature', 'Content-Sha256'];

/**
 * Checks a request that is signed with Signature Version 4, by signing it again and comparing the signatures. The request must be
 * unchanged and in time, have every header that it was signed with, and have no other `x-amz-` header.
 * @returns the signed hash of the body, or a word in its place, for `checkedBody`
 * @throws S3Error 403 if the request has no signature, or one that is not valid
 */
export async function checkSignature(request: IncomingMessage, now = Date.now()): Promise<string> {
  const [path = '', queryText = ''] = (request.url ?? '').split('?', 2);
  const query = new URLSearchParams(queryText);
  const signature = inQuery(query) ?? inHeader(request);
  if (signature === undefined) throw new S3Error(403, 'AccessDenied', 'Access Denied');
  const { given, credential, signedAt, signedHeaders, payload, validForSeconds: expiresIn } = signature;
  const [accessKeyId, , signingRegion = '', signingService = ''] = credential.split('/');
  if (accessKeyId !== localCredentials.accessKeyId) {
    throw new S3Error(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  }
  const names = Object.keys(request.headers);
  const unsigned = names.filter((name) => name.startsWith('x-amz-') && !signedHeaders.includes(name));
  if (unsigned.length > 0 || !signedHeaders.includes('host')) {
    throw new S3Error(403, 'AccessDenied', 'There were headers present in the request which were not signed');
  }
  const headers = Object.fromEntries(signedHeaders.map((name) => [name, [request.headers[name] ?? ''].flat().join(',')]));
  for (const name of parametersOfSignature) query.delete(`X-Amz-${name}`);
  const time = Date.parse(signedAt.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  const unsignedRequest = new HttpRequest({
    method: request.method ?? '',
    path,
    query: Object.fromEntries(query),
    headers: { ...headers, ...(expiresIn === undefined ? {} : { 'X-Amz-Content-Sha256': payload }) },
  });
  const as = { signingDate: new Date(time), signingRegion, signingService, signableHeaders: new Set(signedHeaders) };
  const isUnchanged =
    !Number.isNaN(time) &&
    (expiresIn === undefined
      ? (await signer.sign(unsignedRequest, as)).headers['authorization']?.endsWith(`Signature=${given}`)
      : (await signer.presign(unsignedRequest, { ...as, expiresIn })).query?.['X-Amz-Signature'] === given);
  if (!isUnchanged) {
    const message = 'The request signature we calculated does not match the signature you provided.';
    throw new S3Error(403, 'SignatureDoesNotMatch', message);
  }
  const validFor = expiresIn === undefined ? clockToleranceInMilliseconds : expiresIn * 1_000;
  if (now >= time + validFor) throw new S3Error(403, 'AccessDenied', 'Request has expired');
  if (now <= time - clockToleranceInMilliseconds) throw new S3Error(403, 'AccessDenied', 'Request is not valid yet');
  return payload;
}

const signer = new SignatureV4({
  service: 's3',
  region: 'local',
  credentials: localCredentials,
  sha256: Sha256,
  uriEscapePath: false,
});

function inQuery(query: URLSearchParams): Signature | undefined {
  const given = query.get('X-Amz-Signature');
  if (given === null) return undefined;
  return {
    given,
    credential: query.get('X-Amz-Credential') ?? '',
    signedAt: query.get('X-Amz-Date') ?? '',
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    payload: query.get('X-Amz-Content-Sha256') ?? unsignedPayload,
    validForSeconds: Number(query.get('X-Amz-Expires')),
  };
}

function inHeader({ headers }: IncomingMessage): Signature | undefined {
  const parts = /^AWS4-HMAC-SHA256 +Credential=([^, ]+), *SignedHeaders=([^, ]+), *Signature=([0-9a-f]+)$/.exec(
    headers.authorization ?? '',
  );
  if (!parts) return undefined;
  const [, credential = '', signedHeaders = '', given = ''] = parts;
  return {
    given,
    credential,
    signedAt: String(headers['x-amz-date'] ?? ''),
    signedHeaders: signedHeaders.split(';'),
    payload: String(headers['x-amz-content-sha256'] ?? ''),
    validForSeconds: undefined,
  };
}

const unsignedPayload = 'UNSIGNED-PAYLOAD';

/**
 * Yields the body of a request, and compares it with its Content-MD5 and the signed hash. Throws before the body ends, so that a
 * receiver never gets a complete body with a wrong hash.
 * @param signed the signed hash from `checkSignature`
 * @throws S3Error 400 if the body has another hash, or 501 if each part of the body is signed
 */
export async function* checkedBody(body: IncomingMessage, signed: string): AsyncGenerator<Buffer> {
  if (signed.startsWith('STREAMING-')) throw new S3Error(501, 'NotImplemented', 'Signed parts of a body are not supported.');
  const hash = createHash('sha256');
  const md5 = createHash('md5');
  for await (const chunk of body as AsyncIterable<Buffer>) {
    hash.update(chunk);
    md5.update(chunk);
    yield chunk;
  }
  const given = body.headers['content-md5'];
  if (given !== undefined && md5.digest('base64') !== given) {
    throw new S3Error(400, 'BadDigest', 'The Content-MD5 you specified did not match what we received.');
  }
  if (signed === unsignedPayload || hash.digest('hex') === signed) return;
  const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
  throw new S3Error(400, 'XAmzContentSHA256Mismatch', message);
}
