import { setTimeout as delay } from 'node:timers/promises';
import { KMSClient } from '@aws-sdk/client-kms';
import * as v from 'valibot';
import { environment } from '../shared/runtime/environment.ts';
import { log } from '../shared/runtime/log.ts';
import { signedPost } from '../shared/runtime/signed-post.ts';
import type { Deployment } from './replacement.ts';

const metadata = v.object({
  Revision: v.pipe(v.string(), v.transform(Number), v.integer()),
  Containers: v.tuple([
    v.looseObject({ CreatedAt: v.string(), Networks: v.tuple([v.looseObject({ IPv4Addresses: v.tuple([v.string()]) })]) }),
  ]),
});

/** The time in milliseconds that a load balancer may need until it sends no new connections to a target that was taken out. */
const untilTakenOut = 120_000;

/** The minutes after which the protection of a task ends by itself, for example if its process hangs. */
const protectionInMinutes = 60;

/** The time in milliseconds after which the protection of a task is renewed. */
const untilRenewal = 20 * 60_000;

/** The longest time in milliseconds that a request of a task may take, and until a failed one is repeated. */
const longestInMilliseconds = 10_000;

/** Returns the deployment of ECS that started the task of this process: the revision of its task definition, and when. */
export async function deploymentOfTask(): Promise<Deployment> {
  const { ECS_CONTAINER_METADATA_URI_V4, DRAIN_HOURS } = environment();
  const answer = await send(`${ECS_CONTAINER_METADATA_URI_V4}/task`);
  const { Revision, Containers } = v.parse(metadata, JSON.parse(answer));
  const [{ CreatedAt, Networks }] = Containers;
  const [address] = Networks[0].IPv4Addresses;
  const leave = async () => {
    await takeOut(address);
    await delay(untilTakenOut);
  };
  return { revision: Revision, startedAt: new Date(CreatedAt).toISOString(), drainHours: DRAIN_HOURS, leave };
}

/** Takes a task out of the target group of the load balancer, which keeps the connections that it has. */
async function takeOut(address: string): Promise<void> {
  const { BALANCER_URL: url, TARGET_GROUP_ARN, GATEWAY_PORT } = environment();
  const target = { 'Targets.member.1.Id': address, 'Targets.member.1.Port': String(GATEWAY_PORT) };
  const action = { Action: 'DeregisterTargets', Version: '2015-12-01', TargetGroupArn: TARGET_GROUP_ARN, ...target };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(action).toString();
  const { credentials } = new KMSClient().config; // those of the task
  const signal = AbortSignal.timeout(longestInMilliseconds);
  const { isDone, status, text } = await signedPost({ service: 'elasticloadbalancing', url, body, headers, signal, credentials });
  if (!isDone) throw new Error(`Elastic Load Balancing answered ${status}: ${text}`);
}

/**
 * Protects the task of this process from being stopped by a deployment or a smaller number of tasks, for as long as that is needed.
 * Asks every second whether it is.
 * @param agentUri the URL at which ECS takes requests of the task
 */
export function protectTask(agentUri: string, isNeeded: () => boolean): void {
  const url = `${agentUri}/task-protection/v1/state`;
  let isProtected = false;
  let renewAt = 0;
  let pausedUntil = 0;
  setInterval(() => {
    const [isToBe, now] = [isNeeded(), Date.now()];
    const isDue = isToBe !== isProtected || (isProtected && now >= renewAt);
    if (!isDue || now < pausedUntil) return;
    pausedUntil = now + longestInMilliseconds;
    const body = JSON.stringify({ ProtectionEnabled: isToBe, ExpiresInMinutes: protectionInMinutes });
    void send(url, { method: 'PUT', body, headers: { 'content-type': 'application/json' } }).then(
      () => {
        isProtected = isToBe;
        renewAt = Date.now() + untilRenewal;
        pausedUntil = 0;
      },
      (error: unknown) => log('WARN', 'ECS does not change the protection of the task now.', {}, error),
    );
  }, 1_000);
}

async function send(url: string, request: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(longestInMilliseconds) });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${new URL(url).pathname} was answered ${response.status}: ${answer}`);
  return answer;
}
