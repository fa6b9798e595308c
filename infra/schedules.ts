/** Functions that run by the clock, on AWS and on one machine. */
export const schedules = [
  { name: 'lifecycle/sweep-runs', everyMinutes: 1 },
  { name: 'maintenance/purge', everyMinutes: 1 },
  { name: 'maintenance/collect-content', everyMinutes: 15 },
] as const;
