import { startGateway, type Gateway, type GatewayOptions } from '../../gateway/start-gateway.ts';
import { issueServerCertificate, type Authority } from '../../gateway/certificates/authority.ts';
import { testTimings } from './gateway-timings.ts';

/** Starts a gateway in this process, on a free port. It takes CVMs with certificates of the authority, and keeps no logs. */
export async function gatewayInProcess(
  authority: Authority,
  options: Partial<Pick<GatewayOptions, 'timings' | 'clock' | 'logs'>> = {},
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
