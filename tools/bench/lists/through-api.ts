import { localFunctions } from '../../../local/functions/local-functions.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { httpEvent } from '../../../test/support/http-event.ts';
import { setTestEnvironment } from '../../../test/support/test-environment.ts';

/** The handlers of the endpoints that create and delete computations. */
export interface Api {
  create: (count: number) => Promise<string[]>;
  remove: (ids: string[]) => Promise<void>;
}

const nowhere = 'http://127.0.0.1:1';

/** Opens the API on a table, for the rest of this process. */
export function openApi(dynamoDb: string, domain: string): Api {
  setTestEnvironment({ dynamoDb, s3: nowhere, stepFunctions: nowhere }, 'ERROR');
  const invoke = localFunctions();
  const call = async (name: string, event: ReturnType<typeof httpEvent>) => {
    const { statusCode, body = '' } = (await invoke(name, event)) as { statusCode: number; body?: string };
    if (statusCode >= 300) throw new Error(`${name} answered ${statusCode}: ${body}`);
    return body;
  };
  return {
    create: async (count) => {
      const ids: string[] = [];
      await inParallel([...Array(count).keys()], async () => {
        const event = httpEvent('POST', domain, { body: { name: 'Survival after resection' } });
        const { id } = JSON.parse(await call('computations/create-computation', event)) as { id: string };
        ids.push(id);
        tell('Created', ids.length, count);
      });
      return ids;
    },
    remove: async (ids) => {
      let removed = 0;
      await inParallel(ids, async (id) => {
        await call('computations/delete-computation', httpEvent('DELETE', domain, { path: { id } }));
        tell('Deleted', ++removed, ids.length);
      });
    },
  };
}

function tell(what: 'Created' | 'Deleted', count: number, all: number): void {
  if (count % 10_000 === 0)
    process.stderr.write(`${what} ${count.toLocaleString('en')} of ${all.toLocaleString('en')} through the API\n`);
}
