interface Evidence {
  evidence: object;
  /** The public keys of the service. */
  keys: object;
  /** The events of the computation. */
  events: object[];
}

/** What a user saves to check a run without the service: the files, and the command that checks them. */
export interface EvidenceFiles {
  files: { name: string; text: string }[];
  command: string;
}

/** Returns the files that `cms evidence` saves too, under names that keep the runs apart. */
export function evidenceFiles(run: string, { evidence, keys, events }: Evidence): EvidenceFiles {
  const nameOf = (part: string) => `${part}-${run}.json`;
  const contents = { evidence, keys, events: { events } };
  return {
    files: Object.entries(contents).map(([part, content]) => ({
      name: nameOf(part),
      text: `${JSON.stringify(content, null, 2)}\n`,
    })),
    command: `cms verify ${nameOf('evidence')} --keys ${nameOf('keys')} --events ${nameOf('events')}`,
  };
}
