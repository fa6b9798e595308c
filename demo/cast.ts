import { type Client, clientOf } from './client.ts';
import type { Service } from './service.ts';

/** Who takes part, each with no more than the role it takes. */
const roles = {
  olivia: 'creator',
  alan: 'algo_provider',
  dina: 'dataset_provider',
  carl: 'result_consumer',
} as const;

export type Cast = Record<keyof typeof roles, Client>;

export async function gatherCast({ baseUrl, token }: Service, domain: string): Promise<Cast> {
  const client = async (user: keyof typeof roles) => clientOf(baseUrl, domain, await token(user, [`${domain}:${roles[user]}`]));
  const [olivia, alan, dina, carl] = await Promise.all([client('olivia'), client('alan'), client('dina'), client('carl')]);
  return { olivia, alan, dina, carl };
}
