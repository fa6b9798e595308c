export type Json = Record<string, unknown>;

/** Writes a report of SNP as the crate sev does with serde. */
export function jsonOf(report: Buffer, certificates: readonly Buffer[]): { attestation_report: Json; cert_chain: Json[] } {
  const list = (at: number, size: number) => [...report.subarray(at, at + size)];
  const number = (at: number, size: number) => report.readUIntLE(at, size);
  const version = report.readUInt32LE(0);
  const isTurin = report[0x188] === 0x1a;
  const tcb = (at: number) => {
    const [first = 0, second, third, fourth, , , seventh, last] = list(at, 8);
    return isTurin
      ? { fmc: first, bootloader: second, tee: third, snp: fourth, microcode: last }
      : { fmc: null, bootloader: first, tee: second, snp: seventh, microcode: last };
  };
  const running = (at: number) => ({ major: report[at + 2], minor: report[at + 1], build: report[at] });
  const since = (least: number, value: number) => (version >= least ? value : null);
  const attestation_report = {
    version,
    guest_svn: number(4, 4),
    policy: number(8, 6),
    family_id: list(0x10, 16),
    image_id: list(0x20, 16),
    vmpl: number(0x30, 4),
    sig_algo: number(0x34, 4),
    current_tcb: tcb(0x38),
    plat_info: number(0x40, 6),
    key_info: number(0x48, 4),
    report_data: list(0x50, 64),
    measurement: list(0x90, 48),
    host_data: list(0xc0, 32),
    id_key_digest: list(0xe0, 48),
    author_key_digest: list(0x110, 48),
    report_id: list(0x140, 32),
    report_id_ma: list(0x160, 32),
    reported_tcb: tcb(0x180),
    cpuid_fam_id: since(3, number(0x188, 1)),
    cpuid_mod_id: since(3, number(0x189, 1)),
    cpuid_step: since(3, number(0x18a, 1)),
    chip_id: list(0x1a0, 64),
    committed_tcb: tcb(0x1e0),
    current: running(0x1e8),
    committed: running(0x1ec),
    launch_tcb: tcb(0x1f0),
    launch_mit_vector: since(5, number(0x1f8, 6)),
    current_mit_vector: since(5, number(0x200, 6)),
    signature: { r: list(0x2a0, 72), s: list(0x2a0 + 72, 72) },
  };
  const [vcek] = certificates;
  return { attestation_report, cert_chain: vcek ? [{ cert_type: 'VCEK', data: [...vcek] }] : [] };
}
