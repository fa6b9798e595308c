import { type AttestationPolicy, strictestRules } from 'computation-management-formats/attestation';

/** A policy on SNP machines with every member as strict as its default. */
export const strictPolicy: AttestationPolicy = {
  platforms: ['snp'],
  measurements: ['ab'.repeat(48)],
  ...strictestRules,
};
