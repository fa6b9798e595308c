import { createClient } from 'computation-management-client';
import { expect, it } from 'vitest';
import { claimsOfSimulatedCvms } from '../../../local/cvms/simulated-cvms.ts';
import { startStack } from '../../../local/stack.ts';
import { createReadyComputation } from '../../support/ready-computation.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stack = sharedByTests(() => startStack({ port: 0, simulator: false, schedules: false }));

it('the claims of simulated CVMs are read again only after a change of a claim or of a registration', async () => {
  const client = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token('alice', ['d1:administrator']) });
  const { id } = await createReadyComputation(client, 'Claimed');
  const list = claimsOfSimulatedCvms();
  const none = await list();
  expect(none).toEqual([]);
  await client.updateComputation({ id, body: { name: 'Changed' } });
  expect(await list()).toBe(none);
  await client.registerCvm({ cvmID: 'cvm-2', body: { description: '' } });
  const again = await list();
  expect(again).not.toBe(none);
  expect(await list()).toBe(again);
  await client.startRun({ id, cvm: 'cvm-1' });
  expect(await list()).toMatchObject([{ cvm_id: 'cvm-1' }]);
});
