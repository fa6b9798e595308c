import { arrayOf, described, namedObject, shownText, strictObject, text } from 'computation-management-formats/fields';
import { timestamp } from 'computation-management-formats/timestamps';
import { logLevels } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { type Route, paging, runIfSent, waitParameter } from '../http/route.ts';
import { waiting } from '../runtime/uses.ts';

const longestPosition = 400;

const line = namedObject('LogLine', 'A line of the log of an agent.', {
  time: described(timestamp, 'The time that the agent gave, or that of its arrival.'),
  level: shownText(20, 'The level, such as `info`.'),
  message: shownText(2_500, 'The text, without line breaks.'),
});

export const readLogsRoute = {
  name: 'logs/read-logs',
  method: 'GET',
  path: '/{domainID}/computations/{id}/logs',
  summary: "Read or watch the agent's log of a run",
  access: { anyOf: [], or: ['owner', 'creator', 'consumer', 'reviewer'] },
  uses: { table: ['GetItem', ...waiting] },
  waits: true,
  impact: 'Users cannot read the logs of runs.',
  query: strictObject({
    run: runIfSent,
    level: v.optional(described(v.picklist(logLevels), 'The least level. Default `debug`.'), 'debug'),
    after: v.optional(
      described(text(0, longestPosition), 'The `next` of an earlier response. Empty: begin at the first line.'),
      '',
    ),
    limit: paging.limit,
    wait: waitParameter,
  }),
  response: namedObject('LogPage', 'A part of the log of a run.', {
    logs: arrayOf(line, 100, 'The lines, oldest first.'),
    next: shownText(longestPosition, 'Where the next request goes on, as `after`.'),
  }),
  description:
    'Open to the owner and, of the run, to the result consumers and the creators of assets: creators who are no consumers only if the ' +
    'computation had an `approval` other than `none`, or `providers`. Returns 403 with the reason `logs_not_shared` for everyone if the ' +
    '`log_access` with which the run started is `none`. If its result is reviewed, its reviewers read the log, and alone until the ' +
    'release. Up to 8 MiB of a run are kept, for 30 days. To watch a run, send `wait=20`, each time with the `next` of the last response as `after`. A page may be empty although more lines follow.',
} as const satisfies Route;
