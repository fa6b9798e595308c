import type { AttestationPolicy } from 'computation-management-formats/attestation';

/** A member of an attestation policy in words: what it demands, and what is given away by loosening it. */
interface PolicyMember {
  label: string;
  means: string;
  loosened: string;
}

/** The members of an attestation policy in words, for a form. `pcrs` is left out: no platform has them yet. */
export const policyMembers: Record<Exclude<keyof AttestationPolicy, 'pcrs'>, PolicyMember> = {
  platforms: {
    label: 'Platforms',
    means: 'The kinds of processor that may vouch for the machine.',
    loosened: 'Each one more is a maker more to trust.',
  },
  measurements: {
    label: 'Measurements',
    means: 'What the machine must have booted: 96 hex digits for each image that may run.',
    loosened: 'Each one more is an image more to trust.',
  },
  vmpl: {
    label: 'Highest privilege level (SNP)',
    means: 'The level from which the guest may ask for its report. A standard Cocos machine needs 2.',
    loosened: 'Above 0, software below the measured paravisor may have asked for the report.',
  },
  minimum_tcb: {
    label: 'Least versions of the firmware (SNP)',
    means: 'Older firmware is refused.',
    loosened: 'Without them, firmware with known holes may run it.',
  },
  accepted_tcb_statuses: {
    label: "Intel's statuses (TDX)",
    means: "What Intel may say about the machine's versions.",
    loosened: 'With any but UpToDate, known holes may be open.',
  },
  accepted_advisories: {
    label: "Intel's advisories (TDX)",
    means: 'The advisories that may apply to the machine, such as INTEL-SA-00837.',
    loosened: 'Each is a hole that may be open.',
  },
  allow_debug: {
    label: 'Allow debugging',
    means: 'The host may debug the machine.',
    loosened: 'The host can read everything in it.',
  },
  allow_reconnect: {
    label: 'Allow reconnects',
    means: 'A run goes on after a lost connection.',
    loosened: 'Nothing proves that the same machine goes on.',
  },
  allow_used_guest: {
    label: 'Allow used machines (SNP)',
    means: 'The machine may have worked on another run before.',
    loosened: 'It may keep what it saw there, or bring it along.',
  },
};
