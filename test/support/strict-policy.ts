import type { AttestationPolicy } from 'computation-management-formats/attestation';

/** A policy on SNP machines with every member as strict as its default. */
export const strictPolicy: AttestationPolicy = {
  platforms: ['snp'],
  measurements: ['ab'.repeat(48)],
  pcrs: null,
  vmpl: 0,
  minimum_tcb: null,
  accepted_tcb_statuses: ['UpToDate'],
  accepted_advisories: [],
  allow_debug: false,
  allow_reconnect: false,
  allow_used_guest: false,
};
