import { describe, expect, it } from 'vitest';
import { meIn, permissions, visibleDomains } from '../../../../packages/console/access/permissions.ts';

const computation = { owner: 'alice' };
const asset = { created_by: 'bob', content_access: 'creator' as const };

describe('what the console offers', () => {
  it('to a viewer is nothing that changes anything', () => {
    const me = meIn('vera', ['viewer']);
    const offered = [
      permissions.createComputation(me),
      permissions.editComputation(me, computation),
      permissions.changeOwner(me),
      permissions.deleteComputation(me, computation),
      permissions.startRun(me, computation),
      permissions.stopRun(me, computation, ['bob']),
      permissions.createAnyAsset(me),
      permissions.changeAsset(me, asset),
      permissions.linkAsset(me, asset, computation),
      permissions.readContent(me, asset),
      permissions.registerCvm(me),
    ];
    expect(offered.every((is) => !is)).toBe(true);
  });

  it('to the owner is to edit, delete, start, stop and link, whatever the roles', () => {
    const me = meIn('alice', ['viewer']);
    expect(permissions.editComputation(me, computation)).toBe(true);
    expect(permissions.deleteComputation(me, computation)).toBe(true);
    expect(permissions.startRun(me, computation)).toBe(true);
    expect(permissions.stopRun(me, computation, [])).toBe(true);
    expect(permissions.linkAsset(me, asset, computation)).toBe(true);
    expect(permissions.changeOwner(me)).toBe(false);
    expect(permissions.changeAsset(me, asset)).toBe(false);
  });

  it('to the creator of an asset is its content, and to stop a run that uses it', () => {
    const me = meIn('bob', ['dataset_provider']);
    expect(permissions.readContent(me, asset)).toBe(true);
    expect(permissions.changeAsset(me, asset)).toBe(true);
    expect(permissions.stopRun(me, computation, ['bob'])).toBe(true);
    expect(permissions.startRun(me, computation)).toBe(false);
    expect(permissions.createAsset(me, 'dataset')).toBe(true);
    expect(permissions.createAsset(me, 'algorithm')).toBe(false);
  });

  it('to an administrator is everything but the content of others', () => {
    const me = meIn('root', ['administrator']);
    expect(permissions.changeAsset(me, asset)).toBe(true);
    expect(permissions.readContent(me, asset)).toBe(false);
    expect(permissions.readContent(me, { ...asset, content_access: 'domain' })).toBe(true);
    expect(permissions.deleteComputation(me, computation)).toBe(true);
  });

  it('lists the domains that the user may view, but none in which the user is only a CVM', () => {
    expect(visibleDomains({ d2: ['viewer'], d1: ['creator'], d3: ['cvm'], d4: [] })).toEqual(['d1', 'd2']);
  });
});
