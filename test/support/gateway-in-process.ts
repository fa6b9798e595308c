import { type Authority, issueServerCertificate } from '../../gateway/certificates/authority.ts';
import type { GatewayTimings } from '../../gateway/session/gateway-parts.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../gateway/start-gateway.ts';

/** Short waits, so that tests need not wait for the facts of minutes. */
export const testTimings: Partial<GatewayTimings> = {
  commands: 200,
  stateOfBusy: 300,
  stateOfIdle: 300,
  answer: 2_000,
  attestation: 200,
  spent: 500,
  command: 100,
  stop: 1_000,
  lateEvent: 1_500,
  lateEventWithoutForwarder: 200,
  record: 50,
  presence: 300,
  messages: 300,
  firstRetry: 50,
  longestRetry: 500,
  drain: 60_000, // a busy machine needs its time
};

/** Starts a gateway in this process, on a free port. It takes CVMs with certificates of the authority, and keeps no logs. */
export async function gatewayInProcess(
  authority: Authority,
  options: Partial<Pick<GatewayOptions, 'timings' | 'clock' | 'logs' | 'deployment'>> = {},
): Promise<Gateway> {
  const { certificate, key } = await issueServerCertificate(authority, ['localhost']);
  return await startGateway({
    port: 0,
    host: '127.0.0.1',
    tls: { ca: authority.certificate, certificate, key },
    logs: { write: () => true, end: () => undefined, close: () => Promise.resolve() },
    ...options,
    timings: { ...testTimings, ...options.timings },
  });
}
