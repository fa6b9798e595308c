import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCommands } from '../../../shared/runs/list-commands.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/table.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
});
afterAll(() => embedded.stop());

const [domain, cvm] = ['d1', 'cvm-1'];
const command = {
  type: 'stop',
  computation_id: '00000000-0001-8c3a-9f0e-2b7d41c5e6a8',
  issued_at: '2025-07-17T08:00:00.000Z',
  expires_at: '2025-07-17T08:10:00.000Z',
};
const [first, second] = ['00000000-0001-8c3a-9f0e-2b7d41c5e6a8', '00000000-0002-8c3a-9f0e-2b7d41c5e6a8'];

async function put(cvmId: string, runId: string, fields: Partial<typeof command> = {}): Promise<string> {
  const id = crypto.randomUUID();
  await putItem(embedded.table, { ...cvmKeys.command(domain, cvmId, runId, 'stop'), ...command, id, run_id: runId, ...fields });
  return id;
}
const listed = async (cvmId: string, now: string) => (await listCommands(embedded.table, domain, cvmId, now)).map(({ id }) => id);

describe('listCommands', () => {
  it('lists a command up to the moment it expires, and no longer', async () => {
    const id = await put(cvm, first);
    expect(await listed(cvm, '2025-07-17T08:09:59.999Z')).toEqual([id]);
    expect(await listed(cvm, '2025-07-17T08:10:00.000Z')).toEqual([]);
    expect(await listed(cvm, '2025-07-17T08:10:00.001Z')).toEqual([]);
  });

  it('lists the command that was issued first before a later one, whatever order they are stored in', async () => {
    const later = await put('cvm-2', first, { issued_at: '2025-07-17T08:00:02.000Z' });
    const earlier = await put('cvm-2', second, { issued_at: '2025-07-17T08:00:01.000Z' });
    expect(await listed('cvm-2', '2025-07-17T08:05:00.000Z')).toEqual([earlier, later]);
  });
});
