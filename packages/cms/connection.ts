import type { Client } from 'computation-management-client';
import type { Profile } from './profile/profile.ts';

/** The service, as a user in a domain. */
export interface Connection {
  client: Client;
  server: string;
  domain: string;
  user: string;
  profile: Profile | undefined;
}
