import { expect, it } from 'vitest';
import { isOwnEvent } from '../../../shared/events/event.ts';

it.each([
  [true, ['created', 'started', 'stop_requested', 'completed', 'failed', 'cancelled', 'updated', 'owner_changed']],
  [true, ['asset_linked', 'asset_unlinked', 'key_uploaded', 'approved', 'approval_withdrawn']],
  [false, ['Running', 'Completed', 'Failed', '']],
])('isOwnEvent returns %s for %j', (isOwn, types) => {
  expect(types.map(isOwnEvent)).toEqual(types.map(() => isOwn));
});
