import { strictObject, text } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { matchSchema } from '../find/find.ts';
import { findKinds } from '../find/names.ts';
import type { Route } from '../http/route.ts';

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
    q: v.pipe(text(1, 200), v.description('The text to find.')),
    kind: v.optional(v.pipe(v.picklist(findKinds), v.description('Return only matches of this kind.'))),
    exact: v.optional(
      v.pipe(
        v.picklist(['true', 'false']),
        v.description('True to return only what the text names in full: by name, identifier or checksum. Default false.'),
      ),
    ),
    owner: v.optional(
      v.pipe(
        text(1, 255),
        v.description("Return only computations that this user owns and assets that it created, a user's `sub`."),
      ),
    ),
    limit: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^(?:[1-9]|[1-4][0-9]|50)$/, 'Expected a whole number from 1 to 50.'),
        v.description('The maximum number of matches to return, from 1 to 50. Default 20.'),
        v.metadata({ minimum: 1, maximum: mostMatches, default: 20 }),
        v.transform(Number),
      ),
      '20',
    ),
  }),
  status: 200,
  response: v.pipe(
    v.object({
      matches: v.pipe(v.array(matchSchema), v.description('The matches, the best first.'), v.metadata({ maxItems: mostMatches })),
      truncated: v.pipe(
        v.boolean(),
        v.description(
          'True if there may be more matches: there were more candidates than were read, or more matches than `limit`.',
        ),
      ),
    }),
    v.title('Matches'),
    v.description('What was found.'),
  ),
  description:
    'Names of computations and file names of assets match if each word of the text begins one of the first 8 words of the name, in any ' +
    'order, or if the whole name equals the text, whatever their case. CVMs match by a prefix of the identifier of at least 4 ' +
    'characters, computations and assets by their identifier in full or by a prefix of at least 18 characters, assets also by their ' +
    'checksum in full. Identifiers in full come first, then names and checksums in full, then prefixes of names, then prefixes of words; then by name, then the newest. Reads at ' +
    'most 50 candidates of each kind of match: `truncated` tells if there were more. So many names may be alike that a match is left out; ' +
    '`exact` and `owner` narrow the search before it is cut. A change of a name is found within a few seconds.',
} as const satisfies Route;
