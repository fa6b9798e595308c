import { expect, it } from 'vitest';
import { usersOf } from '../../../../packages/console/computations/computation-fields.ts';

it.each([
  ['', []],
  [' \n, ,', []],
  ['bob\ncarol', ['bob', 'carol']],
  ['bob, carol ,bob', ['bob', 'carol']],
  ['dr jane doe\nauth0|12', ['dr jane doe', 'auth0|12']],
])('the text %j names the users %j', (text, users) => {
  expect(usersOf(text)).toEqual(users);
});
