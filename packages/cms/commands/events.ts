import { type Schemas, watchEvents } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { agoText, detailFields, fieldsText, userText } from 'computation-management-words';
import { logLevels } from 'computation-management-formats/vocabulary';
import { hanging, jsonText } from '../terminal/text.ts';
import { listOf, type ListOptions } from './list.ts';
import { type CmsCommand, given } from './options.ts';

interface Options extends ListOptions {
  run?: string;
  type?: string;
  follow?: boolean;
}

export function addEventCommands(program: CmsCommand): void {
  program
    .subcommand('events', 'list the events of a computation, newest first, or follow them')
    .listOptions()
    .option('--run <RUN>', 'only those of this run')
    .option('--type <TYPE>', 'only those of this type, such as started')
    .excluding('--follow', 'print each event as it is recorded, from the first one on, until Ctrl-C', [
      'limit',
      'offset',
      'all',
      'csv',
    ])
    .onComputation(async (context, id, { run, type, follow, ...options }: Options) => {
      const { client, terminal } = context;
      if (run !== undefined) await client.getRun({ id, run });
      const filter = { id, ...given({ run_id: run, event_type: type }) };
      if (follow !== true) {
        await listOf(context, 'listEvents', {
          filter,
          options,
          columns: [
            { title: 'time', value: ({ timestamp }) => agoText(timestamp, terminal.now()) },
            { title: 'who', value: ({ originator }) => userText(originator) },
            { title: 'event', value: ({ event_type }) => event_type },
            { title: 'status', value: ({ status }) => status },
            { title: 'details', value: (event) => shortDetails(event), cuts: true },
          ],
        });
        return;
      }
      const watched = { ...filter, signal: terminal.signal, onInterruption: context.outages.began };
      for await (const event of watchEvents(client, watched)) {
        const { timestamp, originator, event_type, status } = event;
        const line = [timestamp, userText(originator), event_type, status, shortDetails(event)].join('  ').trimEnd();
        terminal.out(`${context.isJson ? jsonText(event) : printable(line)}\n`);
      }
    });

  program
    .subcommand('logs', "print the agent's log of a run, if `log_access` lets you read it")
    .option('--run <RUN>', 'the run; default: the latest')
    .choice('--level <LEVEL>', 'the least level', logLevels)
    .option('--follow', 'go on with lines as they come, until Ctrl-C')
    .onComputation(async (context, id, { run, level, follow = false }: LogsOptions) => {
      const { client, terminal, isJson } = context;
      const wait = follow ? 20 : 0;
      const items: Schemas['LogPage']['logs'] = [];
      for (let after = ''; ;) {
        const page: Schemas['LogPage'] = await client.readLogs({ id, run, level, after, limit: 100, wait });
        for (const line of page.logs) {
          const { time, level, message } = line;
          if (isJson && !follow) items.push(line);
          else if (isJson) terminal.out(`${jsonText(line)}\n`);
          else terminal.out(`${hanging(printable(`${time}  ${level.padEnd(5)}  ${message}`), terminal.columns ?? Infinity)}\n`);
        }
        if (page.next === after && !follow) break;
        after = page.next;
      }
      context.print({ items }, () => '');
    });
}

/** Formats the details of an event in one line, without the fields that say nothing to people. */
const shortDetails = ({ details }: Schemas['Event']) => fieldsText(detailFields(details, ['asset_id', 'occurred_at']));

interface LogsOptions {
  run?: string;
  level?: (typeof logLevels)[number];
  follow?: boolean;
}
