import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { emitGatewayMetrics } from '../../gateway/gateway-metrics.ts';
import { noCounts } from '../../gateway/session/gateway-parts.ts';
import { createAuthority, issueServerCertificate } from '../../gateway/certificates/authority.ts';

const minute = 60_000;

let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines = [];
  vi.stubEnv('LOG_LEVEL', 'INFO');
  vi.stubEnv('METRICS_NAMESPACE', 'Test');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(JSON.parse(String(line)) as Record<string, unknown>);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const values = (name: string) => lines.flatMap((line) => (name in line ? [line[name]] : []));
const named = (message: string) =>
  lines.flatMap((line) => (line['message'] === message ? [`${String(line['domain'])}/${String(line['cvm_id'])}`] : []));

describe('the metrics of a gateway', () => {
  it('count every minute the CVMs that somebody must look after, and the log names them every ten minutes', async () => {
    const { certificate } = await issueServerCertificate(await createAuthority('test'), ['localhost']);
    const [one, two] = ['cvm-1', 'cvm-2'].map((cvmId) => ({ domain: 'd1', cvmId }));
    if (!one || !two) throw new Error('There are two.');
    const gauges = { cvms: 3, missingForwarders: [one, two], spentCvms: [two], attestedCvms: 0, outboxAge: 0 };
    const stop = emitGatewayMetrics({ counts: noCounts(), gauges: () => gauges }, certificate);
    vi.advanceTimersByTime(10 * minute);
    expect(values('MissingForwarders')).toEqual(Array.from({ length: 10 }, () => 2));
    expect(values('SpentCvms')).toEqual(Array.from({ length: 10 }, () => 1));
    expect(named('A CVM has no log-forwarder.')).toEqual(['d1/cvm-1', 'd1/cvm-2']);
    expect(named('A CVM is spent.')).toEqual(['d1/cvm-2']);
    gauges.missingForwarders = [one];
    gauges.spentCvms = [];
    vi.advanceTimersByTime(10 * minute);
    expect(named('A CVM has no log-forwarder.')).toEqual(['d1/cvm-1', 'd1/cvm-2', 'd1/cvm-1']);
    expect(named('A CVM is spent.')).toEqual(['d1/cvm-2']);
    stop();
  });
});
