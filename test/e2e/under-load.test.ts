import { describe, expect, it } from 'vitest';
import type { BodyOf } from '../support/client.ts';
import { useSession } from '../support/session.ts';
import { isDeployed } from '../support/target.ts';

const session = useSession();

const create = () => session.call('computations/create-computation', { body: { name: 'Under load' } });

async function page(query: { limit: number; offset?: number }): Promise<{ total: number; ids: string[] }> {
  const { status, body } = await session.call('computations/list-computations', { query });
  expect(status).toBe(200);
  const { total, computations } = body as BodyOf<'computations/list-computations'>;
  return { total, ids: computations.map(({ id }) => id) };
}

describe('a list that is read while four clients create and delete', () => {
  const computations = isDeployed ? 200 : 24;

  it('has the exact total in every page, and each computation once in all pages', async () => {
    const { total: earlier } = await page({ limit: 1 });
    const present = new Set<string>();
    const count = { creating: 0, created: 0, deleting: 0, deleted: 0 };
    const write = async () => {
      while (count.creating < computations) {
        count.creating += 1;
        const { status, body } = await create();
        expect(status).toBe(201);
        const { id } = body as { id: string };
        present.add(id);
        count.created += 1;
        if (count.created % 3 !== 0) continue;
        count.deleting += 1;
        present.delete(id);
        const deleted = await session.call('computations/delete-computation', { path: { id } });
        expect(deleted.status).toBe(204);
        count.deleted += 1;
      }
    };
    const problems: string[] = [];
    const read = async () => {
      while (count.deleted < Math.floor(computations / 3) || count.created < computations) {
        const before = { ...count };
        const { total, ids } = await page({ limit: 10 });
        const [least, most] = [before.created - count.deleting, count.creating - before.deleted].map((made) => made + earlier);
        if (total < (least ?? 0) || total > (most ?? 0)) problems.push(`a total of ${total}, not ${least} to ${most}`);
        const leftOut = Math.min(10, total) - new Set(ids).size; // rows that are deleted meanwhile
        if (leftOut < 0 || leftOut > count.deleting - before.deleted) problems.push(`${ids.length} rows of ${total}`);
      }
    };
    await Promise.all([...Array.from({ length: 4 }, write), read(), read()]);
    expect(problems).toEqual([]);

    const found: string[] = [];
    for (let offset = 0; offset < earlier + present.size; offset += 100) found.push(...(await page({ limit: 100, offset })).ids);
    expect(found).toHaveLength(earlier + present.size);
    expect(new Set(found)).toEqual(new Set([...found, ...present]));
  });
});

describe('a computation that eight clients change at once', () => {
  it('gets each change once, and refuses the others as busy', async () => {
    const { id } = (await create()).body as { id: string };
    const statuses: number[] = [];
    const change = async (_: unknown, client: number) => {
      for (let round = 0; round < 5; round++) {
        const body = { name: `Change ${round} of ${client}` };
        const reply = await session.call('computations/update-computation', { path: { id }, body });
        statuses.push(reply.status);
      }
    };
    await Promise.all(Array.from({ length: 8 }, change));
    const made = statuses.filter((status) => status === 200).length;
    const busy = statuses.filter((status) => status === 503).length;
    expect(made + busy).toBe(statuses.length);
    const { total } = await session.done('events/list-events', { path: { id }, query: { event_type: 'updated', limit: 1 } });
    expect(total).toBeGreaterThanOrEqual(made);
    expect(total).toBeLessThanOrEqual(made + busy); // one that was answered 503 may have been made
  });
});
