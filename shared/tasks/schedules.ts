import { tasks } from './tasks.ts';

type ScheduledTask = Extract<(typeof tasks)[number], { trigger: { everyMinutes: number } }>;

/** For AWS and for the one-machine stack. */
export const schedules = tasks
  .filter((task): task is ScheduledTask => typeof task.trigger === 'object')
  .map(({ name, trigger }) => ({ name, everyMinutes: trigger.everyMinutes }));
