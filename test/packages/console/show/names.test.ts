import { expect, it } from 'vitest';
import { namesIn } from '../../../../packages/console/show/texts.ts';

it.each([
  ['', []],
  [' \n, ,', []],
  ['bob\ncarol', ['bob', 'carol']],
  ['bob, carol ,bob', ['bob', 'carol']],
  ['dr jane doe\nauth0|12', ['dr jane doe', 'auth0|12']],
])('the text %j names the users %j', (text, users) => {
  expect(namesIn(text)).toEqual(users);
});
