import { Option } from 'commander';
import type { Schemas } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { logLevels } from 'computation-management-formats/vocabulary';
import { hanging, jsonText } from '../terminal/text.ts';
import type { CmsCommand } from './options.ts';

interface Options {
  run?: string;
  level?: (typeof logLevels)[number];
  follow?: boolean;
}

export function addLogsCommand(program: CmsCommand): void {
  program
    .subcommand('logs', "print the agent's log of a run, if `log_access` lets you read it")
    .option('--run <RUN>', 'the run; default: the latest')
    .addOption(new Option('--level <LEVEL>', 'the least level').choices(logLevels))
    .option('--follow', 'go on with lines as they come, until Ctrl-C')
    .onComputation(async (context, { client }, id, { run, level, follow = false }: Options) => {
      const { terminal, isJson } = context;
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
