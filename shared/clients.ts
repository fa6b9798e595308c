const clients = new Map<() => unknown, unknown>();

/** Returns the client that `create` creates at its first use. All requests of a process share it. */
export function sharedClient<Client>(create: () => Client): Client {
  if (!clients.has(create)) clients.set(create, create());
  return clients.get(create) as Client;
}

/** Uses this client in place of the one that `create` creates. Only a service on one machine calls it, which has no KMS. */
export function replaceClient<Client>(create: () => Client, client: Client): void {
  clients.set(create, client);
}

/** Lets all clients be created anew. Only a service that starts on one machine calls it: its parts have addresses of their own. */
export function forgetClients(): void {
  clients.clear();
}
