import { ServiceProblem } from 'computation-management-client';
import { describe, expect, it } from 'vitest';
import { identityOf, tokenSource } from '../../../../packages/console/sign-in/tokens.ts';

const unauthenticated = new ServiceProblem({ status: 401, code: 'unauthenticated', detail: 'Expired.', request: 'token' });

/** A sign-in whose tokens are these, one after the other, and then have expired. */
function signIn({ tokens = [] as string[], hasWork = false } = {}) {
  const done: string[] = [];
  const left = new Error('left');
  let lastRefusal: number | undefined;
  const state = { hasWork };
  const go = (where: string) => async () => {
    done.push(where);
    throw left;
  };
  const token = tokenSource({
    renewed: async () => {
      const next = tokens.shift();
      if (next === undefined) throw unauthenticated;
      return next;
    },
    leave: go('leaves'),
    stayOutside: go('stays outside'),
    refusal: {
      read: () => lastRefusal,
      write: (at) => (lastRefusal = at),
      remove: () => (lastRefusal = undefined),
    },
    hasWork: () => state.hasWork,
    onExpired: () => done.push('tells'),
  });
  const { signal } = new AbortController();
  return { done, left, state, token: (refused?: string) => token({ signal, ...(refused !== undefined && { refused }) }) };
}

describe('the user of a token', () => {
  it('has roles in domains with any name, and in no others', () => {
    const groups = ['constructor', '__proto__', 'toString', 'd1'].map((domain) => `${domain}:viewer`);
    const claims = Buffer.from(JSON.stringify({ sub: 'alice', groups })).toString('base64url');
    const { user, roles } = identityOf(`x.${claims}.x`, 'groups');
    expect([user, Object.entries(roles)]).toEqual([
      'alice',
      ['constructor', '__proto__', 'toString', 'd1'].map((domain) => [domain, ['viewer']]),
    ]);
    expect(roles['hasOwnProperty']).toBeUndefined();
  });
});

describe('the tokens of the console', () => {
  it('are renewed', async () => {
    const { token, done } = signIn({ tokens: ['first', 'second'] });
    expect(await token()).toBe('first');
    expect(await token('first')).toBe('second');
    expect(done).toEqual([]);
  });

  it('lead to the sign-in page when they have expired', async () => {
    const { token, done, left } = signIn();
    await expect(token()).rejects.toBe(left);
    expect(done).toEqual(['leaves']);
  });

  it('do not take away unsaved work when they have expired, and lead to the sign-in page once it is gone', async () => {
    const { token, done, left, state } = signIn({ hasWork: true });
    await expect(token()).rejects.toMatchObject({ code: 'unauthenticated', detail: 'Your sign-in has expired.' });
    await expect(token('refused')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(done).toEqual(['tells', 'tells']);
    state.hasWork = false;
    await expect(token()).rejects.toBe(left);
    expect(done).toEqual(['tells', 'tells', 'leaves']);
  });

  it('do not take away unsaved work when a renewed one is refused too', async () => {
    const { token, done } = signIn({ tokens: ['second'], hasWork: true });
    expect(await token('first')).toBe('second');
    await expect(token('second')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(done).toEqual(['tells']);
  });
});
