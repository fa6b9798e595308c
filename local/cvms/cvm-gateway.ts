import { rm } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import * as v from 'valibot';
import { fileRunLogs } from '../../gateway/session/run-logs.ts';
import type { GatewayTimings } from '../../gateway/session/gateway-parts.ts';
import { startGateway, type Gateway } from '../../gateway/start-gateway.ts';
import {
  createAuthority,
  issueCvmCertificate,
  issueServerCertificate,
  type Authority,
} from '../../gateway/certificates/authority.ts';
import { keptFile } from '../machine/data-directory.ts';
import type { Clock } from '../../shared/runtime/deadline.ts';

export interface CvmGatewayOptions {
  /** The TCP port of the gateway. 0 selects a free port. */
  port: number;
  /** True if the gateway may take a free port when the given port is taken. Default: false. */
  orAnyPort?: boolean;
  /** The address of the network interface that the gateway listens on. Default: the loopback interface. */
  host?: string;
  timings?: Partial<GatewayTimings>;
}

/** The certificates and the address with which a CVM connects to the gateway, besides its private key. */
export interface Enrolment {
  certificate: string;
  /** The certificate of the authority, PEM, with which the CVM verifies the gateway. */
  ca: string;
  /** The address of the gateway, with its port, such as `localhost:7001`. */
  address: string;
}

/** The gateway for the agents of real CVMs on this machine, with an authority that issues the certificates of CVMs. */
export interface CvmGateway {
  gateway: Gateway;
  address: string;
  /** The certificate of the CVM authority, PEM. */
  ca: string;
  /** The directory of the logs of runs on real CVMs. */
  logs: string;
  /** Issues a certificate for the public key of a CVM. The CVM still has to be registered with the certificate. */
  enrol: (cvm: { domain: string; cvmId: string; publicKey: string }) => Promise<Enrolment>;
  stop: () => Promise<void>;
}

const keptAuthority = v.object({ certificate: v.string(), key: v.string() });

/**
 * Starts the gateway for real CVMs on this machine. Keeps the CVM authority under `dataDirectory`, so that certificates stay
 * valid. Without a data directory, the gateway deletes the logs of runs when it stops.
 */
export async function startCvmGateway(
  { port, orAnyPort = false, host = '127.0.0.1', timings }: CvmGatewayOptions,
  { dataDirectory, logs, clock }: { dataDirectory?: string | undefined; logs: string; clock?: Clock },
): Promise<CvmGateway> {
  const authority = await authorityOf(dataDirectory);
  const hosts = hostsOf(host);
  const { certificate, key } = await issueServerCertificate(authority, hosts);
  const startOn = (chosen: number) =>
    startGateway({
      port: chosen,
      host,
      tls: { ca: authority.certificate, certificate, key },
      logs: fileRunLogs(logs),
      name: 'local',
      ...(timings ? { timings } : {}),
      ...(clock ? { clock } : {}),
    });
  const gateway = await startOn(port).catch((error: unknown) => {
    if (orAnyPort && String(error).includes('EADDRINUSE')) return startOn(0);
    throw error;
  });
  const address = `${hosts[0] ?? 'localhost'}:${gateway.port}`;
  return {
    gateway,
    address,
    ca: authority.certificate,
    logs,
    enrol: async ({ domain, cvmId, publicKey }) => ({
      certificate: await issueCvmCertificate(authority, { domain, cvmId }, publicKey),
      ca: authority.certificate,
      address,
    }),
    stop: async () => {
      await gateway.stop();
      if (dataDirectory === undefined) await rm(logs, { recursive: true, force: true });
    },
  };
}

async function authorityOf(dataDirectory: string | undefined): Promise<Authority> {
  const withoutIt = 'Without it, every CVM has to be enrolled again.';
  const file = keptFile(dataDirectory, 'cvm-authority.json', { schema: keptAuthority, withoutIt });
  return file.read() ?? file.write(await createAuthority('local'));
}

/** Returns the host names under which CVMs reach the gateway. The first name is the one to tell CVMs. */
function hostsOf(host: string): string[] {
  if (host === '127.0.0.1') return ['localhost', '127.0.0.1'];
  if (host !== '0.0.0.0') return [host, 'localhost', '127.0.0.1'];
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = addresses.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
  return [hostname(), ...own, 'localhost', '127.0.0.1'];
}
