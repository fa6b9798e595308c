import type { Client } from '../client/create-client.ts';
import type { Profile } from './profile/profile.ts';

/** The service, as a user in a domain. */
export interface Connection {
  client: Client;
  server: string;
  domain: string;
  user: string;
  profile: Profile | undefined;
}
