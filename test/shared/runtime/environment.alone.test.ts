import { afterEach, describe, expect, it, vi } from 'vitest';
import { environment } from '../../../shared/runtime/environment.ts';

describe('the environment of a function', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('reads a variable at each access', () => {
    vi.stubEnv('TABLE_NAME', 'first');
    expect(environment().TABLE_NAME).toBe('first');
    vi.stubEnv('TABLE_NAME', 'second');
    expect(environment().TABLE_NAME).toBe('second');
  });

  it('throws an error with the name of a missing variable when that is read', () => {
    vi.stubEnv('TABLE_NAME', undefined);
    const variables = environment();
    expect(() => variables.TABLE_NAME).toThrow('The environment variable TABLE_NAME is missing.');
  });

  it('throws an error with the name of an empty variable', () => {
    vi.stubEnv('BUCKET_NAME', '');
    expect(() => environment().BUCKET_NAME).toThrow('The environment variable BUCKET_NAME is empty.');
  });

  it('accepts an empty METRICS_NAMESPACE, which turns metrics off', () => {
    vi.stubEnv('METRICS_NAMESPACE', '');
    expect(environment().METRICS_NAMESPACE).toBe('');
  });

  it('accepts a time as a whole number of seconds', () => {
    vi.stubEnv('ACCEPT_TIMEOUT_SECONDS', '300');
    expect(environment().ACCEPT_TIMEOUT_SECONDS).toBe(300);
  });

  it.each(['0', '-5', '1.5', '5m', ''])('throws an error for a time of %j', (value) => {
    vi.stubEnv('STOP_TIMEOUT_SECONDS', value);
    expect(() => environment().STOP_TIMEOUT_SECONDS).toThrow(
      `The environment variable STOP_TIMEOUT_SECONDS is ${JSON.stringify(value)}; expected a whole number of seconds.`,
    );
  });

  it.each(['0', '200'])('accepts a cap of waits of %s', (value) => {
    vi.stubEnv('WAITS_PER_STAGE', value);
    expect(environment().WAITS_PER_STAGE).toBe(Number(value));
  });

  it.each(['-1', '1.5', '10000', 'many', ''])('throws an error for a cap of waits of %j', (value) => {
    vi.stubEnv('WAITS_PER_DOMAIN', value);
    expect(() => environment().WAITS_PER_DOMAIN).toThrow('expected a whole number from 0 to 9999.');
  });
});
