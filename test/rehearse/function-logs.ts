import { askService, type EmulatorAddress } from './emulator-client.ts';

/** Returns the lines with a text that the functions logged, from the emulator's CloudWatch Logs. */
export async function linesOfFunctions(emulator: EmulatorAddress, text: string): Promise<string[]> {
  const { logGroups } = (await askLogs(emulator, 'DescribeLogGroups', { logGroupNamePrefix: '/aws/lambda/' })) as {
    logGroups: { logGroupName: string }[];
  };
  const lines: string[] = [];
  for (const { logGroupName } of logGroups) {
    const { events } = (await askLogs(emulator, 'FilterLogEvents', { logGroupName, filterPattern: JSON.stringify(text) })) as {
      events: { message: string }[];
    };
    lines.push(...events.map(({ message }) => message.trim()));
  }
  return lines;
}

function askLogs(emulator: EmulatorAddress, operation: string, input: unknown): Promise<unknown> {
  return askService(emulator, { service: 'logs', target: `Logs_20140328.${operation}`, input });
}
