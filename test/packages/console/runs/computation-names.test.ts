import { createClient } from 'computation-management-client';
import { expect, it } from 'vitest';
import { readNames } from '../../../../packages/console/runs/computation-names.ts';

const answers: Record<string, () => Response> = {
  read: () => Response.json({ name: 'Incomes' }),
  deleted: () => Response.json({ code: 'not_found', detail: 'No such computation.' }, { status: 404 }),
  hidden: () => Response.json({ code: 'forbidden', detail: 'Requires the role viewer.' }, { status: 403 }),
  broken: () => Response.json({ code: 'internal', detail: 'It broke.' }, { status: 500 }),
  garbled: () => new Response('{', { headers: { 'content-type': 'application/json' } }),
  unsent: () => {
    throw new TypeError('Failed to fetch');
  },
};

it('reads the name of each computation once, remembers those that are not there, and leaves out those that could not be read', async () => {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'http://localhost',
    domain: 'd1',
    token: 'token',
    retry: { attempts: 1 },
    fetch: async ({ url }) => {
      const id = new URL(url).pathname.split('/').at(-1) ?? '';
      asked.push(id);
      return answers[id]?.() ?? Response.error();
    },
  });
  const ids = Object.keys(answers);
  const names = await readNames(client, [...ids, 'read'], new AbortController().signal);
  expect(Object.fromEntries(names)).toEqual({ read: 'Incomes', deleted: null, hidden: null });
  expect(asked).toEqual(ids);
});
