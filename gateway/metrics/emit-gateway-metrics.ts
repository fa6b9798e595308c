import { emitMetric } from '../../shared/metrics.ts';
import type { Gateway } from '../start-gateway.ts';

/** Emits the state of a gateway, and what it has counted since the last time. @returns a function that stops */
export function emitGatewayMetrics(gateway: Pick<Gateway, 'counts' | 'gauges'>, everyMilliseconds = 60_000): () => void {
  const countsNow = () => structuredClone(gateway.counts);
  let before = countsNow();
  const timer = setInterval(() => {
    const { cvms, missingForwarders, spentCvms, outboxAge } = gateway.gauges();
    const counts = countsNow();
    emitMetric('ConnectedCvms', cvms);
    emitMetric('MissingForwarders', missingForwarders);
    emitMetric('SpentCvms', spentCvms);
    emitMetric('OutboxAge', outboxAge);
    emitMetric('IdentityConflicts', counts.identityConflicts - before.identityConflicts);
    emitMetric('StreamsRefused', counts.streamsRefused - before.streamsRefused);
    emitMetric('ReportsDropped', counts.reportsDropped - before.reportsDropped);
    before = counts;
  }, everyMilliseconds);
  return () => clearInterval(timer);
}
