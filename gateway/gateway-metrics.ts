import { X509Certificate } from 'node:crypto';
import { log } from '../shared/runtime/log.ts';
import { emitMetric } from '../shared/runtime/metrics.ts';
import type { GatewayCounts } from './session/gateway-parts.ts';
import { type CvmIdentity, logFieldsOf } from './wire/identity.ts';

/** The state of a gateway. */
export interface GatewayGauges {
  cvms: number;
  /** CVMs without a stream of their log-forwarder. */
  missingForwarders: CvmIdentity[];
  /** CVMs whose agent can be restarted for a further run. An agent whose results nobody has fetched yet is not among them. */
  spentCvms: CvmIdentity[];
  /** The age of the oldest report that the service has not taken, in milliseconds. */
  outboxAge: number;
}

const day = 24 * 60 * 60 * 1000;
const everyMilliseconds = 60_000;

/** The alarms of what is named want it for half an hour. A line for each CVM and minute would be a log of its own. */
const minutesBetweenNames = 10;

/**
 * Emits the state of a gateway every minute, and what it has counted since the last time. Names the CVMs that somebody must look after,
 * every ten minutes.
 * @param certificate of the gateway, PEM
 * @returns a function that stops
 */
export function emitGatewayMetrics(
  gateway: { counts: GatewayCounts; gauges: () => GatewayGauges },
  certificate: string,
): () => void {
  const expires = new X509Certificate(certificate).validToDate.getTime();
  const countsNow = () => structuredClone(gateway.counts);
  let before = countsNow();
  let minute = 0;
  const timer = setInterval(() => {
    const { cvms, missingForwarders, spentCvms, outboxAge } = gateway.gauges();
    const counts = countsNow();
    emitMetric('ConnectedCvms', cvms);
    emitMetric('MissingForwarders', missingForwarders.length);
    emitMetric('SpentCvms', spentCvms.length);
    emitMetric('OutboxAge', outboxAge);
    emitMetric('IdentityConflicts', counts.identityConflicts - before.identityConflicts);
    emitMetric('StreamsRefused', counts.streamsRefused - before.streamsRefused);
    emitMetric('ReportsDropped', counts.reportsDropped - before.reportsDropped);
    emitMetric('CertificateDays', Math.floor((expires - Date.now()) / day));
    if (minute++ % minutesBetweenNames === 0) {
      for (const cvm of missingForwarders) log('INFO', 'A CVM has no log-forwarder.', logFieldsOf(cvm));
      for (const cvm of spentCvms) log('INFO', 'A CVM is spent.', logFieldsOf(cvm));
    }
    const { logLinesDropped, eventsRefused, eventsInferred } = counts;
    const isNew =
      logLinesDropped > before.logLinesDropped || eventsRefused > before.eventsRefused || eventsInferred > before.eventsInferred;
    if (isNew)
      log('INFO', 'Log lines dropped, events refused and events inferred since the start of the gateway.', {
        logLinesDropped,
        eventsRefused,
        eventsInferred,
      });
    before = counts;
  }, everyMilliseconds);
  return () => clearInterval(timer);
}
