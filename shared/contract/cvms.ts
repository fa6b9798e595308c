import * as v from 'valibot';
import { commandSchema } from '../runs/command.ts';
import { reportBatch } from '../runs/report.ts';
import type { Contract } from '../http/contract.ts';

export const listCommandsContract = {
  status: 200,
  response: v.object({ commands: v.array(commandSchema) }),
  description: 'A command comes back until it is accepted or rejected, or expires. `run` carries manifest and agent_config.',
} as const satisfies Contract;

const count = v.pipe(v.number(), v.integer());

export const reportContract = {
  body: reportBatch,
  status: 200,
  response: v.object({ accepted: count, duplicates: count }),
  errors: ['not_found', 'unsupported_media_type', 'too_large'],
  description:
    'Up to 50 reports. `ConsumingResults/Ready` or `Complete/Completed` completes the run, `Failed/Failed` or a rejection fails it, `Stopped/Stopped` ends a stop. Any report is a sign of life.',
} as const satisfies Contract;
