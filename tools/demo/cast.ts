import { type Client, createClient } from 'computation-management-client';
import type { Service } from './service.ts';

/** The participants, each with the only role that it needs. */
const roles = {
  owner: 'creator',
  developer: 'algo_provider',
  provider: 'dataset_provider',
  consumer: 'result_consumer',
} as const;

export type Cast = Record<keyof typeof roles, Client>;

export async function gatherCast({ baseUrl, token }: Service, domain: string): Promise<Cast> {
  const client = async (user: keyof typeof roles) =>
    createClient({ baseUrl, domain, token: await token(user, [`${domain}:${roles[user]}`]) });
  const [owner, developer, provider, consumer] = await Promise.all([
    client('owner'),
    client('developer'),
    client('provider'),
    client('consumer'),
  ]);
  return { owner, developer, provider, consumer };
}
