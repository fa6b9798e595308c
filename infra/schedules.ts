import { tasks } from '../shared/tasks/tasks.ts';

type ScheduledTask = Extract<(typeof tasks)[number], { trigger: { everyMinutes: number } }>;

/** Functions that run by the clock, on AWS and on one machine, as the task table has them. */
export const schedules = tasks
  .filter((task): task is ScheduledTask => typeof task.trigger === 'object')
  .map(({ name, trigger }) => ({ name, everyMinutes: trigger.everyMinutes }));
