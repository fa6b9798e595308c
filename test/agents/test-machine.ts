import { sign } from 'node:crypto';
import machine from '../../packages/simulated-cvm/test-machine.json' with { type: 'json' };

/** Makes a report of SNP with test keys, as the firmware signs it. @param change fills in its report data and the REPORT_ID of the guest */
export function testReport(change: (report: Buffer) => void): Buffer {
  const report = Buffer.alloc(0x4a0);
  report.set(Buffer.from(machine.report, 'base64'));
  change(report);
  const signature = sign('sha384', report.subarray(0, 0x2a0), { key: machine.key, dsaEncoding: 'ieee-p1363' });
  report.set(signature.subarray(0, 48).toReversed(), 0x2a0);
  report.set(signature.subarray(48).toReversed(), 0x2a0 + 72);
  return report;
}
