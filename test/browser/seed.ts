import { type Client, createClient } from 'computation-management-client';
import { createReadyComputation } from '../support/ready-computation.ts';
import type { ConsoleWorld } from './console-world.ts';

/** A client of the service with the memberships, in the domain d1. */
export async function clientOf({ stack }: Pick<ConsoleWorld, 'stack'>, user: string, groups: string[]): Promise<Client> {
  return createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token(user, groups) });
}

/** Creates a computation of alice that a run can start of, by the API. */
export async function readyComputation(world: Pick<ConsoleWorld, 'stack'>, name: string): Promise<{ id: string; asset: string }> {
  return await createReadyComputation(await clientOf(world, 'alice', ['d1:administrator']), name);
}
