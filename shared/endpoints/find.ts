import { arrayOf, described, namedObject, strictObject, text } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { matchSchema } from '../find/find.ts';
import { findKinds } from '../find/names.ts';
import { type Route, ifSent, wholeNumber } from '../http/route.ts';

const mostMatches = 50;

export const findRoute = {
  name: 'find/find',
  method: 'GET',
  path: '/{domainID}/find',
  summary: 'Find computations, assets and CVMs',
  access: { anyOf: ['view'] },
  uses: { table: ['BatchGetItem', 'Query'] },
  impact: 'Users cannot search.',
  query: strictObject({
    q: described(text(1, 200), 'The text to find.'),
    kind: ifSent(v.picklist(findKinds), 'Return only matches of this kind.'),
    exact: ifSent(
      v.picklist(['true', 'false']),
      'True to return only what the text names in full: by name, identifier or checksum. Default false.',
    ),
    owner: ifSent(text(1, 255), "Return only computations that this user owns and assets that it created, a user's `sub`."),
    limit: wholeNumber(1, mostMatches, 20, 'The maximum number of matches to return, from 1 to 50. Default 20.'),
  }),
  response: namedObject('Matches', 'What was found.', {
    matches: arrayOf(matchSchema, mostMatches, 'The matches, the best first.'),
    truncated: described(
      v.boolean(),
      'True if there may be more matches: there were more candidates than were read, or more matches than `limit`.',
    ),
  }),
  description:
    'Names of computations and file names of assets match if each word of the text begins one of the first 8 words of the name, in any ' +
    'order, or if the whole name equals the text, whatever their case. CVMs match by a prefix of the identifier of at least 4 ' +
    'characters, computations and assets by their identifier in full or by a prefix of at least 18 characters, assets also by their ' +
    'checksum in full. Identifiers in full come first, then names and checksums in full, then prefixes of names, then prefixes of words; then by name, then the newest. Reads at ' +
    'most 50 candidates of each kind of match: `truncated` tells if there were more. So many names may be alike that a match is left out; ' +
    '`exact` and `owner` narrow the search before it is cut. A change of a name is found within a few seconds.',
} as const satisfies Route;
