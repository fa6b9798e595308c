import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TdxCollateral, verifySnpReport, verifyTdxQuote } from 'computation-management-attestation';
import { printTable } from './print-table.ts';

/**
 * Prints how long the verification of real attestation evidence takes: the first verification of a process, and the median of 200
 * more.
 */
const vectors = join(import.meta.dirname, '../../test/packages/attestation/vectors');
const read = (file: string) => readFileSync(join(vectors, file));
const day = new Date('2025-06-30');
const snp = { boundTo: null, now: day, certificates: [read('snp-milan.vcek.der')] };
const tdx = { boundTo: null, now: day, collateral: [JSON.parse(read('tdx.collateral.json').toString()) as TdxCollateral] };
const kinds = {
  SNP: () => verifySnpReport(read('snp-milan.report'), snp),
  TDX: () => verifyTdxQuote(read('tdx.quote'), tdx),
};

/**
 * Verifies evidence 201 times. Returns for each time the milliseconds of the clock, and those of the processor, which other
 * processes do not prolong.
 */
async function measure(verify: () => Promise<unknown>): Promise<[clock: number, processor: number][]> {
  const times: [number, number][] = [];
  for (let at = 0; at <= 200; at += 1) {
    const [begin, used] = [performance.now(), process.cpuUsage()];
    await verify();
    const { user, system } = process.cpuUsage(used);
    times.push([performance.now() - begin, (user + system) / 1_000]);
  }
  return times;
}

const [, , kind] = process.argv;
if (kind === 'SNP' || kind === 'TDX') {
  process.stdout.write(JSON.stringify(await measure(kinds[kind])));
} else {
  const rows = Object.keys(kinds).map((evidence) => {
    const { stdout } = spawnSync(process.execPath, [import.meta.filename, evidence], { encoding: 'utf8' });
    const [first = [], ...others] = JSON.parse(stdout) as number[][];
    const median = (column: number) => others.map((each) => each[column] ?? 0).sort((one, other) => one - other)[100];
    const [clock, processor] = first;
    return { evidence, 'first, ms': clock, processor, 'median, ms': median(0), 'processor ': median(1) };
  });
  printTable(rows);
}
