import { shownText, strictObject, text } from 'computation-management-formats/fields';
import { uncheckedId } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import { logLevels } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { paging, waitParameter } from '../http/query-parameters.ts';
import type { Route } from '../http/route.ts';
import { waiting } from '../runtime/uses.ts';

const longestPosition = 400;

const line = v.pipe(
  v.object({
    time: v.pipe(timestamp, v.description('The time that the agent gave, or that of its arrival.')),
    level: v.pipe(shownText(20), v.description('The level, such as `info`.')),
    message: v.pipe(shownText(2_500), v.description('The text, without line breaks.')),
  }),
  v.title('LogLine'),
  v.description('A line of the log of an agent.'),
);

export const readLogsRoute = {
  name: 'logs/read-logs',
  method: 'GET',
  path: '/{domainID}/computations/{id}/logs',
  summary: "Read or watch the agent's log of a run",
  access: { anyOf: [], or: ['owner', 'creator', 'consumer'] },
  uses: { table: ['GetItem', ...waiting] },
  waits: true,
  impact: 'Users cannot read the logs of runs.',
  query: strictObject({
    run: v.optional(
      v.pipe(uncheckedId(), v.description('The identifier of a run of this computation. Default: the latest run.')),
    ),
    level: v.optional(v.pipe(v.picklist(logLevels), v.description('The least level. Default `debug`.')), 'debug'),
    after: v.optional(
      v.pipe(text(0, longestPosition), v.description('The `next` of an earlier response. Empty: begin at the first line.')),
      '',
    ),
    limit: paging.limit,
    wait: waitParameter,
  }),
  status: 200,
  response: v.pipe(
    v.object({
      logs: v.pipe(v.array(line), v.description('The lines, oldest first.'), v.metadata({ maxItems: 100 })),
      next: v.pipe(shownText(longestPosition), v.description('Where the next request goes on, as `after`.')),
    }),
    v.title('LogPage'),
    v.description('A part of the log of a run.'),
  ),
  errors: ['not_found'],
  description:
    'Open to the owner and, of the run, to the result consumers and the creators of assets: creators who are no consumers only if the ' +
    'computation had an `approval` other than `none`, or `providers`. Returns 403 with the reason `logs_not_shared` for everyone if the ' +
    '`log_access` with which the run started is `none`. Up to 8 MiB of a run are kept, for 30 days. To watch a run, send `wait=20`, each ' +
    'time with the `next` of the last response as `after`. A page may be empty although more lines follow.',
} as const satisfies Route;
