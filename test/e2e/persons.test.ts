import { describe, expect, it } from 'vitest';
import { beforeAllAs, itAs, useSession } from '../support/session.ts';

const session = useSession();

describe('a test with the one token that the delivery has', () => {
  it.each(['viewer', 'dataset_provider', 'outsider'] as const)('cannot act as %s or name that user', async (person) => {
    const request = { as: person, body: { name: 'N' } };
    await expect(session.call('computations/create-computation', request)).rejects.toThrow(
      `A test that acts as ${person} says so`,
    );
    expect(() => session.target.idOf(person)).toThrow(TypeError);
  });

  it('acts as the administrator and as a CVM', async () => {
    const { status } = await session.call('computations/list-computations', { query: { limit: 1 } });
    expect([status, session.target.tokenOf('cvm').length > 0]).toEqual([200, true]);
  });
});

describe('a test that names a person', () => {
  let before = 0;
  beforeAllAs(['viewer'], async () => {
    before = (await session.call('computations/list-computations', { as: 'viewer' })).status;
    return () => Promise.resolve(void session.target.idOf('viewer'));
  });

  itAs(['viewer'], 'acts as that person, also after a wait, and as no further one', async () => {
    expect(before).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await session.call('computations/list-computations', { as: 'viewer' })).status).toBe(200);
    expect(() => session.target.tokenOf('creator')).toThrow(TypeError);
  });
});
