import type { AttestationPolicy } from 'computation-management-formats/attestation';

/** The members of an attestation policy in words, for a form: the label, what it demands, and what is given away by loosening it. */
export const policyMembers: Record<keyof AttestationPolicy, [label: string, means: string, loosened: string]> = {
  platforms: ['Platforms', 'The kinds of processor that may vouch for the machine.', 'Each one more is a maker more to trust.'],
  measurements: [
    'Measurements',
    'What the machine must have booted, 96 hex digits each.',
    'Each one more is an image more to trust.',
  ],
  pcrs: [
    'PCRs (platforms with a vTPM)',
    'The values that PCRs of the vTPM must have: on each line the number of the PCR, 0 to 23, and 64 hex digits.',
    'Without them, an Azure machine may have booted anything: the measurement is that of the paravisor.',
  ],
  vmpl: [
    'Highest privilege level (SNP)',
    'The level from which the guest may ask for its report. A standard Cocos machine needs 2.',
    'Above 0, software below the measured paravisor may have asked for the report.',
  ],
  minimum_tcb: [
    'Least versions (SNP)',
    'Older firmware is refused: bootloader, TEE, SNP firmware, microcode, and on Turin the FMC, such as 4, 0, 24, 219.',
    'Without them, firmware with known holes may run it.',
  ],
  accepted_tcb_statuses: [
    "Intel's statuses (TDX)",
    "What Intel may say about the machine's versions.",
    'With any but UpToDate, known holes may be open.',
  ],
  accepted_advisories: [
    "Intel's advisories (TDX)",
    'Those that may apply to the machine, such as INTEL-SA-00837.',
    'Each is a hole that may be open.',
  ],
  allow_debug: ['Allow debugging', 'The host may debug the machine.', 'The host can read everything in it.'],
  allow_reconnect: [
    'Allow reconnects',
    'A run goes on after a lost connection.',
    'Nothing proves that the same machine goes on.',
  ],
  allow_used_guest: [
    'Allow used machines (SNP)',
    'The machine may have worked on another run before.',
    'It may keep what it saw there, or bring it along.',
  ],
};
