import type { Configuration } from 'computation-management-formats/approval-text';

export const approvalTexts: Record<Configuration['approval'], string> = {
  none: 'Only where an asset asks for it',
  all: 'Every party approves',
  all_signed: 'Every party approves, with a signature',
};

interface Shown {
  manifest: { algorithm: { source?: unknown } };
  configuration: Configuration;
  /** The fingerprints of keys that belong to nobody whom the service names. */
  ownerless: readonly string[];
}

/** Says what an approval does not protect from, a sentence each. */
export function cautionsOf({ manifest: { algorithm }, configuration, ownerless }: Shown): string[] {
  const { agent_config, attestation_policy: policy, log_access } = configuration;
  return [
    ...(policy === null ? ['Any machine may run this: no attestation is asked for, so nothing proves what it runs on.'] : []),
    ...(policy?.allow_debug === true ? ['The host of the machine may debug it, and so read everything in it.'] : []),
    ...(agent_config.attested_tls
      ? []
      : ['TLS is not attested: a connection to the agent does not prove that it ends in a confidential machine.']),
    ...(log_access === 'parties'
      ? ['All parties may read the logs of a run, and an algorithm can write any data into them.']
      : []),
    ...(algorithm.source ? [] : ['The arguments of the algorithm are not covered: its provider gives them to the agent.']),
    ...ownerless.map((fingerprint) => `The key ${fingerprint} belongs to nobody whom the service names.`),
    'No digest covers who the parties are, sizes, or the name of the algorithm: the service says them. Compare each fingerprint with its owner.',
  ];
}
