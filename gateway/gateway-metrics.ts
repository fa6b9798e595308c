import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { emitMetric, log } from '../shared/runtime/log.ts';
import type { GatewayCounts } from './session/gateway-parts.ts';
import { type CvmIdentity, logFieldsOf } from './wire/identity.ts';

export interface GatewayGauges {
  cvms: number;
  missingForwarders: CvmIdentity[];
  /**
   * The connected CVMs that are spent: their agents must be restarted before another run, and hold no results that somebody has
   * yet to fetch.
   */
  spentCvms: CvmIdentity[];
  /** The number of CVMs whose agents are still on the connection over which they attested, without those that need a restart before another run. */
  attestedCvms: number;
  /** The age in milliseconds of the oldest report of a run that waits to be sent to the service. */
  outboxAge: number;
}

const day = 24 * 60 * 60 * 1000;
const everyMilliseconds = 60_000;

/**
 * The number of minutes between two lists, in the gateway's log, of the CVMs that somebody must look after. The alarms look for
 * these names within half an hour.
 */
const minutesBetweenNames = 10;

/**
 * Emits the metrics of a gateway every minute. Every ten minutes, also logs the names of the CVMs that somebody must look after.
 * @param certificate of the gateway, PEM
 * @returns a function that stops
 */
export function emitGatewayMetrics(
  gateway: { counts: GatewayCounts; gauges: () => GatewayGauges },
  certificate: string,
): () => void {
  const expires = new X509Certificate(certificate).validToDate.getTime();
  const loggedOf = (of: GatewayCounts) => {
    const { logLinesDropped, eventsRefused, eventsInferred } = of;
    return { logLinesDropped, eventsRefused, eventsInferred };
  };
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
    if (!isDeepStrictEqual(loggedOf(counts), loggedOf(before)))
      log('INFO', 'Log lines dropped, events refused and events inferred since the start of the gateway.', loggedOf(counts));
    before = counts;
  }, everyMilliseconds);
  return () => clearInterval(timer);
}
