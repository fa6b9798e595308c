import type { SendTaskFailureCommandInput, SendTaskSuccessCommandInput } from '@aws-sdk/client-sfn';
import type { Executions } from '../../shared/runs/executions.ts';

/** How each task was ended from now on, by its token: `completed`, or the error that it was failed with. */
export function recordTasks({ client }: Executions): Map<string, string> {
  const ended = new Map<string, string>();
  client.middlewareStack.add(
    (next, { commandName }) =>
      (sent) => {
        const { taskToken = '', error = '' } = sent.input as Partial<SendTaskSuccessCommandInput & SendTaskFailureCommandInput>;
        if (commandName === 'SendTaskSuccessCommand') ended.set(taskToken, 'completed');
        if (commandName === 'SendTaskFailureCommand') ended.set(taskToken, error);
        return next(sent);
      },
    { step: 'initialize' },
  );
  return ended;
}
