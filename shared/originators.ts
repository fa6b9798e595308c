/** The originator of the service's own events that no user caused. */
export const system = 'system';

/** The parts of a CVM that report events. A report cannot name the service or a user as originator. */
export const reporters = ['agent', 'computation-runner'] as const;
export type Reporter = (typeof reporters)[number];
