import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { growingPause } from './deadline.ts';

const clients = new Map<() => unknown, unknown>();

/** `create` is called at the first use. All requests of a process share the client. */
export function sharedClient<Client>(create: () => Client): Client {
  if (!clients.has(create)) clients.set(create, create());
  return clients.get(create) as Client;
}

/** Only a service on one machine calls it, which has engines of its own. */
export function replaceClient<Client>(create: () => Client, client: Client): void {
  clients.set(create, client);
}

/** Only a service that starts on one machine calls it: its parts have addresses of their own. */
export function forgetClients(): void {
  clients.clear();
}

/** In milliseconds. They leave time for another attempt before the deadline if a socket hangs. */
export const clientLimits = {
  connectionTimeout: 1_000,
  requestTimeout: 2_000,
  throwOnRequestTimeout: true,
} as const;

/** With the SDK's default of 3, about one caller in a hundred would get a 503 if every fifth call failed. */
export const maxAttempts = 6;

/** In milliseconds. The SDK's default of seconds would use up the deadline. */
export const pauseBefore = (attempt: number) => Math.random() * growingPause(attempt, { first: 50, longest: 1_000 });

/** For the table and storage. The caller's deadline ends the attempts. */
export function clientOptions() {
  return { retryStrategy: new ConfiguredRetryStrategy(maxAttempts, pauseBefore), requestHandler: clientLimits };
}
