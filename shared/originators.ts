/** The originator of the service's own events that no user caused. */
export const system = 'system';

/** The parts of a CVM that report events. A report cannot name the service or a user as originator. */
export const reporters = ['agent', 'computation-runner'] as const;
export type Reporter = (typeof reporters)[number];

const reserved = new Set<string>([system, ...reporters]);

/** Returns whether a name is that of an originator, so that no user can have it. */
export function isReservedName(name: string): boolean {
  return reserved.has(name);
}
