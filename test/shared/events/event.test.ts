import { describe, expect, it } from 'vitest';
import { isOwnEvent } from '../../../shared/events/event.ts';

describe('isOwnEvent', () => {
  it.each([
    'created',
    'started',
    'stop_requested',
    'completed',
    'failed',
    'cancelled',
    'updated',
    'owner_changed',
    'asset_linked',
    'asset_unlinked',
    'key_uploaded',
  ])('says that only the service records %s', (type) => {
    expect(isOwnEvent(type)).toBe(true);
  });

  it.each(['Running', 'Completed', 'Failed', ''])('says that agents may report %j', (type) => {
    expect(isOwnEvent(type)).toBe(false);
  });
});
