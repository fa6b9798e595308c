import { afterEach, describe, expect, it, vi } from 'vitest';
import { localFunctions } from '../../infra/local/local-functions.ts';
import { tasks } from '../../shared/tasks/tasks.ts';

const invoke = localFunctions();

function eventOf(path: string): unknown {
  return {
    version: '2.0',
    rawPath: path,
    headers: {},
    isBase64Encoded: false,
    pathParameters: { domainID: 'd1' },
    requestContext: {
      requestId: 'r-1',
      http: { method: 'GET', path, protocol: 'HTTP/1.1', sourceIp: '::1', userAgent: '' },
      authorizer: { jwt: { claims: { sub: 'alice', 'cognito:groups': '[d1:administrator]' }, scopes: [] } },
    },
  };
}

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
      answer = await invoke('computations/list-computations', eventOf('/d1/computations'));
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
    expect(await invoke('service/health', eventOf('/health'))).toMatchObject({ statusCode: 200 });
    expect(await invoke('service/openapi', eventOf('/openapi.json'))).toMatchObject({ statusCode: 200 });
  });
});
