import { reporters, system } from 'computation-management-formats/vocabulary';
import { describe, expect, it } from 'vitest';
import { type Caller, callerOf, providing, relationsOf, requireAccess, requireAction } from '../../../shared/http/caller.ts';

const rolesIn = (groups: unknown, domain = 'd1') => [...callerOf({ sub: 'a', groups }, 'groups', domain).roles].sort();

describe('callerOf', () => {
  it.each([
    ['one string in brackets, as API Gateway writes an array', '[d1:viewer d2:creator d1:editor]'],
    ['an array', ['d1:viewer', 'd2:creator', 'd1:editor']],
    ['one string of words', 'd1:viewer d2:creator d1:editor'],
  ])('accepts memberships as %s', (_what, claim) => {
    expect(rolesIn(claim)).toEqual(['editor', 'viewer']);
    expect(rolesIn(claim, 'd2')).toEqual(['creator']);
  });

  it('distinguishes domains whose names begin with the same letters', () => {
    expect(rolesIn('[d:administrator d1:viewer]')).toEqual(['viewer']);
    expect(rolesIn('[d:administrator d1:viewer]', 'd')).toEqual(['administrator']);
    for (const [claim, domain] of [
      ['[d:administrator]', 'd1'],
      ['[d1:administrator]', 'd'],
      ['[d1:administrator]', '1'],
      ['[:administrator]', ''],
    ] as const) {
      expect(() => rolesIn(claim, domain)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    }
  });

  it.each(['\t', '\n', '\r', '\v', '\f', '\u00a0', '\u2028'])('does not split a group at %j', (character) => {
    expect(rolesIn(`[d1:viewer d2:x${character}d1:administrator]`)).toEqual(['viewer']);
    expect(() => rolesIn(`[x${character}d1:administrator]`)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('accepts a user identifier of 255 bytes, and throws unauthenticated for one of 256', () => {
    const callerNamed = (sub: string) => callerOf({ sub, groups: '[d1:viewer]' }, 'groups', 'd1').id;
    for (const sub of ['x', 'x'.repeat(255), 'é'.repeat(127)]) expect(callerNamed(sub)).toBe(sub);
    for (const sub of ['x'.repeat(256), 'é'.repeat(128), '', 'system', 'agent', 'computation-runner']) {
      expect(() => callerNamed(sub)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
    }
  });

  it('throws unauthenticated for a token that says it is not an access token', () => {
    const claims = { sub: 'alice', memberships: 'd1:viewer' };
    expect(() => callerOf({ ...claims, token_use: 'id' }, 'memberships', 'd1')).toThrow(
      expect.objectContaining({ code: 'unauthenticated' }),
    );
    expect(callerOf({ ...claims, token_use: 'access' }, 'memberships', 'd1').id).toBe('alice');
  });

  it('throws unauthenticated for a user identifier with a lone surrogate, which an event could not name', () => {
    for (const sub of ['\ud800', 'alice\udfff']) {
      const reading = () => callerOf({ sub, groups: '[d1:viewer]' }, 'groups', 'd1');
      expect(reading).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
    }
  });

  it('gives a caller the actions of all its roles', () => {
    const { id, actions } = callerOf({ sub: 'alice', groups: ['d1:editor', 'd1:runner'] }, 'groups', 'd1');
    expect([id, [...actions].sort()]).toEqual(['alice', ['edit', 'run', 'view']]);
  });

  it('reads only the claim that the stage names', () => {
    expect(callerOf({ sub: 'a', 'cognito:groups': '[d1:cvm]' }, 'cognito:groups', 'd1').roles).toEqual(new Set(['cvm']));
    expect(() => callerOf({ sub: 'a', groups: '[d1:cvm]' }, 'cognito:groups', 'd1')).toThrow('no role in the domain d1');
  });

  it.each([
    ['nothing', undefined],
    ['an empty list', '[]'],
    ['numbers', [1, 2]],
    ['an object', { 'd1:viewer': true }],
    ['a membership behind a comma', '[a,d1:administrator]'],
    ['other domains', ['d2:administrator', 'd11:viewer', 'D1:viewer', 'x:d1:viewer']],
    ['roles that do not exist', ['d1:root', 'd1:', 'd1', ':viewer', 'd1:toString', 'd1:__proto__']],
  ])('throws forbidden for %s', (_what, claim) => {
    expect(() => rolesIn(claim)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it.each(['d', 'd:1', '', 'd1x', 'd1:d1'])('gives a member of the domain %j nothing in d1', (domain) => {
    expect(() => rolesIn([`${domain}:administrator`])).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(rolesIn([`${domain}:administrator`, 'd1:viewer'])).toEqual(['viewer']);
  });

  it.each(['[d1:viewerx', 'xd1:viewer]'])('gives nothing for the claim %j, which has one bracket', (claim) => {
    expect(() => rolesIn(claim)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it.each([undefined, '', 5, 'system', 'agent', 'computation-runner'])('throws unauthenticated for the subject %j', (sub) => {
    expect(() => callerOf({ sub, groups: '[d1:viewer]' }, 'groups', 'd1')).toThrow(
      expect.objectContaining({ code: 'unauthenticated' }),
    );
  });
});

describe.each([system, ...reporters])('the reserved name %s', (sub) => {
  const callerWith = (...groups: string[]) => callerOf({ sub, groups }, 'groups', 'd1', 'cvm-1');

  it('is taken from a caller with no other role than cvm, bound or not', () => {
    for (const groups of [['d1:cvm'], ['d1:cvm:cvm-1'], ['d1:cvm', 'd1:cvm:cvm-2', 'd2:viewer']]) {
      const { id, actions } = callerWith(...groups);
      expect([id, ...actions]).toEqual([sub, 'operate_cvm']);
    }
  });

  it('is refused as unauthenticated with any other role, and as forbidden without a role', () => {
    for (const role of ['viewer', 'administrator', 'result_consumer']) {
      expect(() => callerWith('d1:cvm', `d1:${role}`)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
    }
    expect(() => callerWith('d2:viewer')).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('is never an owner, a creator or a consumer', () => {
    const relations = { owner: sub, creator: ['alice', sub], consumer: sub };
    const access = { anyOf: ['edit'], or: ['owner', 'creator', 'consumer'] } as const;
    expect(() => requireAccess(callerWith('d1:cvm'), access, relations)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(relationsOf(callerWith('d1:cvm'), relations)).toEqual({});
  });
});

describe('a membership that is bound to a CVM', () => {
  const actionsOn = (cvmId: string | undefined, ...groups: string[]) => [
    ...callerOf({ sub: 'a', groups }, 'groups', 'd1', cvmId).actions,
  ];

  it('allows operate_cvm on that CVM alone', () => {
    expect(actionsOn('cvm-1', 'd1:cvm:cvm-1')).toEqual(['operate_cvm']);
    for (const other of ['cvm-2', 'cvm', 'CVM-1', 'cvm-1:', ':cvm-1', '', undefined]) {
      expect([other, actionsOn(other, 'd1:cvm:cvm-1')]).toEqual([other, []]);
    }
  });

  it('is divided by its first two colons', () => {
    expect(actionsOn('a:b:c', 'd1:cvm:a:b:c')).toEqual(['operate_cvm']);
    expect(actionsOn('c', 'd1:cvm:a:b:c')).toEqual([]);
    expect(actionsOn('a', 'd1:cvm:a:b:c')).toEqual([]);
  });

  it('adds up with others', () => {
    expect(actionsOn('b', 'd1:cvm:a', 'd1:cvm:b')).toEqual(['operate_cvm']);
    expect(actionsOn('c', 'd1:cvm:a', 'd1:cvm')).toEqual(['operate_cvm']);
    expect(actionsOn('c', 'd1:cvm:a', 'd2:cvm', 'd1:viewer')).toEqual(['view']);
  });

  it.each(['d1:cvm:', 'd1::cvm', ':cvm:a', 'd1:viewer:a', 'd1:administrator:cvm'])('is not %j, which gives no role', (group) => {
    expect(() => rolesIn([group])).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('refuses other CVMs with a message of its own', () => {
    const caller = callerOf({ sub: 'a', groups: ['d1:cvm:a'] }, 'groups', 'd1', 'b');
    expect(() => requireAccess(caller, { anyOf: ['operate_cvm'] })).toThrow(
      'The token is valid only for one CVM of this domain, at the addresses of that CVM.',
    );
    expect(() => requireAccess(caller, { anyOf: ['view'] })).toThrow(
      /^Requires the role administrator, .* Your roles in this domain: cvm\.$/,
    );
  });
});

describe('requireAccess', () => {
  const caller: Caller = { id: 'alice', roles: new Set(['viewer', 'editor']), actions: new Set(['view', 'edit']) };

  it('accepts a caller with one of the actions, or one of the relations that the endpoint names', () => {
    expect(() => requireAccess(caller, { anyOf: ['run', 'edit'] })).not.toThrow();
    expect(() => requireAccess(caller, { anyOf: ['run'], or: ['owner'] }, { owner: 'alice' })).not.toThrow();
    const either = { anyOf: ['run'], or: ['owner', 'creator'] } as const;
    expect(() => requireAccess(caller, either, { owner: 'bob', creator: 'alice' })).not.toThrow();
  });

  it.each([
    ['none of the actions', { anyOf: ['run'] } as const, {}],
    ['a relation of somebody else', { anyOf: ['run'], or: ['owner'] } as const, { owner: 'bob' }],
    ['a relation that the endpoint does not name', { anyOf: ['run'], or: ['owner'] } as const, { creator: 'alice' }],
    ['a relation to nothing', { anyOf: ['run'], or: ['owner', 'creator'] } as const, {}],
  ])('throws forbidden for %s', (_what, access, relations) => {
    expect(() => requireAccess(caller, access, relations)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('throws an error that names the required roles and those of the caller', () => {
    expect(() => requireAccess(caller, { anyOf: ['administer'], or: ['owner'] })).toThrow(
      'Requires the role administrator, or being the owner of the computation. Your roles in this domain: editor, viewer.',
    );
  });
});

describe('requireAction', () => {
  const caller: Caller = { id: 'alice', roles: new Set(['dataset_provider']), actions: new Set(['view', 'provide_dataset']) };

  it('accepts a caller with the action, and throws an error that names the roles with it for others', () => {
    expect(() => requireAction(caller, providing('dataset'))).not.toThrow();
    expect(() => requireAction(caller, providing('algorithm'))).toThrow(
      'Requires the role administrator, creator or algo_provider. Your roles in this domain: dataset_provider.',
    );
  });
});
