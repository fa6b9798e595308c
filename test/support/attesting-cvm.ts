import { createHash, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { openService } from '../../gateway/session/service.ts';
import { reportSchema } from '../../shared/cvms/index.ts';
import { type Clock, systemClock } from '../../shared/runtime/deadline.ts';

/**
 * Opens what a gateway does for the CVMs of a domain that attest, by the functions of the service that gateways call. The service
 * must run in this process.
 */
export function attestingCvms(domain: string, clock: Clock = systemClock) {
  const service = openService(clock, 'gateway-1');
  const of = (cvmId: string) => ({ domain, cvmId });
  const streams = new Map<string, string>();
  return {
    service,
    streamOf: (id: string) => streams.get(id) ?? '',
    /** Connects an agent process of a registered CVM over a new stream, in place of the former one. */
    connect: async (id: string): Promise<void> => {
      await service.renewLease({ isOver: false });
      const { commandStream } = (await service.registration(of(id))) ?? {};
      const stream = randomUUID();
      await service.setCommandStream(of(id), { stream, instead: commandStream });
      streams.set(id, stream);
    },
    report: (id: string, ...reports: object[]) =>
      service.report(
        of(id),
        reports.map((each) => v.parse(reportSchema, each)),
      ),
    /** Sends a token, in base64, over the present stream of a CVM. */
    send: async (id: string, base64: string, kind = 'eat'): Promise<void> => {
      const token = Buffer.from(base64, 'base64');
      const attestation_hash = createHash('sha256').update(token).digest('hex');
      const [before, stream] = [await service.agentRecord(of(id)), streams.get(id) ?? ''];
      const attested = { before, isNew: before.attested_stream !== stream, attestation_hash, stream };
      const { process = '' } = (await service.recordAgentProcess(of(id), attested)) ?? {};
      await service.recordToken({ ...of(id), process }, { kind, token });
    },
  };
}
