import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { log } from '../../../shared/runtime/log.ts';

interface Described {
  name: string;
  message: string;
  cause?: Described;
  errors?: Described[];
}

function errorIn(cause: unknown): Described {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    log('ERROR', 'It failed.', {}, cause);
    const [[line] = []] = write.mock.calls;
    return (JSON.parse(String(line)) as { error: Described }).error;
  } finally {
    write.mockRestore();
  }
}

function count({ cause, errors = [] }: Described): number {
  return 1 + [cause, ...errors].reduce((sum, each) => sum + (each === undefined ? 0 : count(each)), 0);
}

describe('the log entry of an error', () => {
  beforeEach(() => {
    vi.stubEnv('LOG_LEVEL', 'ERROR');
  });
  afterEach(() => vi.unstubAllEnvs());

  it('has the name, message and stack of the error', () => {
    expect(errorIn(new TypeError('Wrong.'))).toEqual({ name: 'TypeError', message: 'Wrong.', stack: expect.any(String) });
  });

  it('has the chain of causes', () => {
    const socket = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = new RangeError('It failed.', { cause: new TypeError('fetch failed', { cause: socket }) });
    expect(errorIn(error)).toMatchObject({
      name: 'RangeError',
      cause: { name: 'TypeError', message: 'fetch failed', cause: { name: 'Error', code: 'ECONNREFUSED' } },
    });
  });

  it('has the status of an SDK error', () => {
    expect(errorIn(Object.assign(new Error('Slow.'), { $metadata: { httpStatusCode: 503 } }))).toMatchObject({ status: 503 });
  });

  it('has each part of an AggregateError with its own cause', () => {
    const parts = [new Error('one', { cause: new Error('why one') }), 'two'];
    expect(errorIn(new AggregateError(parts, '2 of 3 failed.'))).toMatchObject({
      message: '2 of 3 failed.',
      errors: [{ message: 'one', cause: { message: 'why one' } }, 'two'],
    });
  });

  it('has a cause that is not an error as text', () => {
    expect(errorIn(new Error('It failed.', { cause: 'a reason' }))).toMatchObject({ cause: 'a reason' });
  });

  it('has at most 20 errors of circular causes and large aggregates', () => {
    const circular = new Error('again');
    circular.cause = circular;
    expect(count(errorIn(circular))).toBe(20);
    const many = Array.from({ length: 1000 }, (_, index) => new Error(`part ${index}`));
    expect(count(errorIn(new AggregateError(many)))).toBe(20);
  });
});
