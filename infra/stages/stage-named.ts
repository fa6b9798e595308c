import type { Stage } from './stage.ts';
import { stages } from './stages.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';

/** Returns the stage that the option `--stage` of a command names. @throws UsageError if there is none */
export function stageNamed(name: string): Stage {
  const stage = stages.find((row) => row.name === name);
  if (stage) return stage;
  throw new UsageError(`--stage is ${JSON.stringify(name)}; expected one of ${stages.map((row) => row.name).join(' ')}.`);
}
