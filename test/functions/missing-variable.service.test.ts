import { afterEach, describe, expect, it, vi } from 'vitest';
import { localFunctions } from '../../local/functions/local-functions.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import { httpEvent } from '../support/http-event.ts';

const invoke = localFunctions();

const get = httpEvent('GET', 'd1', {});

interface Entry {
  task?: string;
  error?: { message: string };
}

/** Returns the entries that `work` logs. */
async function logged(work: () => Promise<unknown>): Promise<Entry[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await work();
    return write.mock.calls.map(([line]) => JSON.parse(String(line)) as Entry);
  } finally {
    write.mockRestore();
  }
}

describe('a function whose environment lacks a variable', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('answers its first request with 500, and logs the name of the variable', async () => {
    vi.stubEnv('LOG_LEVEL', 'ERROR');
    let answer: unknown;
    const entries = await logged(async () => {
      answer = await invoke('computations/list-computations', get);
    });
    expect(answer).toMatchObject({ statusCode: 500 });
    expect(entries.map(({ error }) => error?.message)).toEqual(['The environment variable TABLE_NAME is missing.']);
  });

  it('throws an error with the name of the variable if it is a task', async () => {
    await expect(invoke('lifecycle/sweep-runs', {})).rejects.toThrow('The environment variable TABLE_NAME is missing.');
  });

  it.each(tasks)('logs its own name as the task, if it is $name', async ({ name }) => {
    vi.stubEnv('LOG_LEVEL', 'ERROR');
    const entries = await logged(() => expect(invoke(name, 'no input of a task')).rejects.toThrow());
    expect(entries.map(({ task }) => task)).toEqual([name]);
  });

  it('works if it does not read the variable, as health and the OpenAPI document without a table name', async () => {
    vi.stubEnv('SERVICE_VERSION', '1.2.3');
    expect(await invoke('service/health', get)).toMatchObject({ statusCode: 200 });
    expect(await invoke('service/openapi', get)).toMatchObject({ statusCode: 200 });
  });
});
