import { issueLocalToken, ServiceProblem, type Client, createClient, sizeText } from 'computation-management-client';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startStack } from '../../local/stack.ts';

/** The service on which the demo plays. */
export interface Service {
  baseUrl: string;
  token: (user: string, groups: string[]) => Promise<string>;
  stop: () => Promise<void>;
}

/**
 * Starts a service for the demo, or uses the running service at `url`. All users of a running service get the given token, or
 * each a token that the service issues.
 */
export async function openService({ url, token }: { url: string | undefined; token: string | undefined }): Promise<Service> {
  if (url === undefined) return await startStack({ port: 0, simulator: true });
  const baseUrl = url.replace(/\/+$/, '');
  return {
    baseUrl,
    token: async (user, groups) => token ?? (await issueLocalToken({ baseUrl, sub: user, groups }).catch(adviseToken)),
    stop: async () => undefined,
  };
}

function adviseToken(error: unknown): never {
  if (!(error instanceof ServiceProblem) || error.code !== 'unexpected') throw error;
  throw new Error(`${error.detail} Pass a token with --token.`, { cause: error });
}

/** The role of each participant of the demo, which is the only one that the participant needs. */
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

/** A file in tools/demo/data/ that the demo uploads. */
export interface InputFile {
  name: string;
  path: string;
  content: Buffer<ArrayBuffer>;
  /** The SHA3-256 hash of the content, which an agent verifies. */
  sha3: Buffer;
  /** The size of the content as text, such as `14.9 KiB`. */
  size: string;
}

export async function readInputFile(name: string): Promise<InputFile> {
  const path = join(import.meta.dirname, 'data', name);
  const content = await readFile(path);
  const sha3 = createHash('sha3-256').update(content).digest();
  return { name, path, content, sha3, size: sizeText(content.length) };
}
