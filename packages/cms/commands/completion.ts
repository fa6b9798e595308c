import { Argument, type Command } from 'commander';
import type { WrapAction } from '../wrap-action.ts';
import { completionScript, shells } from '../completion.ts';

export function addCompletionCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('completion')
    .description('print a script that completes commands and options: eval "$(cms completion bash)"')
    .addArgument(new Argument('<SHELL>', 'the shell').choices(shells))
    .action(
      wrapAction(async ({ print }, shell: (typeof shells)[number]) => {
        const script = completionScript(program, shell);
        print({ shell, script }, () => script);
      }),
    );
}
