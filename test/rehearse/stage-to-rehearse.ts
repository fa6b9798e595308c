import type { Stage } from '../../infra/stages/stage.ts';

/** A stage of infra/stages/stages.ts, and the changes of its row that a rehearsal makes. */
export interface StageToRehearse {
  name: string;
  region: string;
  changes: RowChanges;
}

export type RowChanges = Pick<Partial<Stage>, 'eventBus' | 'canary' | 'existing'>;

/** Returns the arguments and variables with which cdk synthesizes the stage. */
export function appOf({ name, changes }: StageToRehearse): { args: string[]; environment: NodeJS.ProcessEnv } {
  if (Object.keys(changes).length === 0) return { args: [], environment: process.env };
  return {
    args: ['--app', 'node test/rehearse/changed-app.ts'],
    environment: { ...process.env, REHEARSED_STAGE: name, REHEARSED_CHANGES: JSON.stringify(changes) },
  };
}
