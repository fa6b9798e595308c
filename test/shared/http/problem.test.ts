import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { conflict, errorTable, ServiceError, type ErrorCode } from '../../../shared/runtime/errors.ts';
import { problemResponse, toServiceError } from '../../../shared/http/problem.ts';

const codes = Object.keys(errorTable) as ErrorCode[];

describe('problemResponse', () => {
  it.each(codes)('returns %s in the format of RFC 9457', (code) => {
    const { statusCode, headers, body } = problemResponse(new ServiceError(code, 'Detail.'), 'r-1');
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'x-request-id': 'r-1',
      'cache-control': 'no-store',
    });
    expect(JSON.parse(body)).toEqual({
      type: 'about:blank',
      title: errorTable[code].title,
      status: statusCode,
      code,
      request_id: 'r-1',
      detail: code === 'internal' ? 'The service failed. Give the operator the request id.' : 'Detail.',
    });
    expect(statusCode).toBe(errorTable[code].status);
  });

  it('includes the reason and the run of a conflict', () => {
    const { body } = problemResponse(conflict('cvm_busy', 'Busy.', 'run-1'), 'r-1');
    expect(JSON.parse(body)).toMatchObject({ status: 409, reason: 'cvm_busy', run_id: 'run-1' });
  });

  it('cuts a detail and pointers that are too long', () => {
    const long = '😀'.repeat(1_000_000);
    const error = new ServiceError('invalid_request', long, { errors: [{ pointer: `/${long}`, detail: long }] });
    const { body } = problemResponse(error, 'r-1');
    expect(body.length).toBeLessThan(4_000);
    expect(body.isWellFormed()).toBe(true);
    expect((JSON.parse(body) as { detail: string }).detail).toMatch(/^😀{1}.*…$/u);
  });

  const headersOf = (code: ErrorCode) => problemResponse(new ServiceError(code, ''), 'r').headers;

  it('has a challenge for 401 only', () => {
    expect(headersOf('unauthenticated')).toMatchObject({ 'www-authenticate': 'Bearer error="invalid_token"' });
    expect(codes.filter((code) => 'www-authenticate' in headersOf(code))).toEqual(['unauthenticated']);
  });

  it('has Retry-After for 429 and 503 only', () => {
    const later: ErrorCode[] = ['too_many_requests', 'unavailable'];
    for (const code of later) expect(headersOf(code)['retry-after']).toMatch(/^[1-9]\d*$/);
    for (const code of codes.filter((other) => !later.includes(other))) expect(headersOf(code)).not.toHaveProperty('retry-after');
  });
});

describe('toServiceError', () => {
  const answerTo = (thrown: unknown) => {
    const { statusCode, body } = problemResponse(toServiceError(thrown), 'r');
    return { statusCode, body };
  };

  it.each([
    ['an error', new Error('secret at table-7')],
    [
      'an unexpected error of the SDK',
      Object.assign(new Error('secret'), { name: 'ValidationException', $metadata: { httpStatusCode: 400 } }),
    ],
    ['a string', 'secret'],
    ['undefined', undefined],
  ])('answers 500 to %s without its message', (_what, thrown) => {
    const { statusCode, body } = answerTo(thrown);
    expect(statusCode).toBe(500);
    expect(body).not.toMatch(/secret|table-7/);
  });

  it.each([
    ['throttles', new ProvisionedThroughputExceededException({ message: 'secret', $metadata: {} })],
    ['is down', Object.assign(new Error('secret'), { $metadata: { httpStatusCode: 502 } })],
    ['cannot be reached', Object.assign(new Error('connect ECONNREFUSED 10.0.0.1 secret'), { code: 'ECONNREFUSED' })],
  ])('answers 503 when a dependency %s, without its message', (_what, thrown) => {
    const { statusCode, body } = answerTo(thrown);
    expect(statusCode).toBe(503);
    expect(body).not.toMatch(/secret|10\.0/);
  });

  it.each([
    'ThrottlingException',
    'ProvisionedThroughputExceededException',
    'RequestLimitExceeded',
    'TransactionInProgressException',
    'TooManyRequestsException',
    'SlowDown',
    'ExecutionLimitExceeded',
    'ServiceUnavailable',
    'TimeoutError',
    'AbortError',
    'DisabledException',
    'KMSInvalidStateException',
  ])('answers 503 to %s, which AWS or its SDK throws while a service is busy', (name) => {
    expect(answerTo(Object.assign(new Error('secret'), { name })).statusCode).toBe(503);
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])(
    'answers 503 to a connection that fails with %s',
    (code) => {
      expect(answerTo(Object.assign(new Error('secret'), { code })).statusCode).toBe(503);
    },
  );

  it('answers 503 where a dependency answers 500, and 500 where it answers 499', () => {
    const answerToStatus = (httpStatusCode: number) =>
      answerTo(Object.assign(new Error('secret'), { $metadata: { httpStatusCode } })).statusCode;
    expect([answerToStatus(500), answerToStatus(499)]).toEqual([503, 500]);
  });

  it('keeps the thrown error as the cause for the log', () => {
    const thrown = new Error('secret');
    expect(toServiceError(thrown).cause).toBe(thrown);
  });
});
