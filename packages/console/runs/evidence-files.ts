interface Evidence {
  evidence: object;
  /** The public keys of the service. */
  keys: object;
  /** The events of the computation. */
  events: object[];
  /** The attestation tokens of the run, in base64. */
  tokens: string[];
}

/** Returns the one file with which a user checks a run without the service, and the command that checks it. */
export function evidenceArchive(run: string, { evidence, keys, events, tokens }: Evidence) {
  const name = `evidence-${run}.json`;
  const text = `${JSON.stringify({ evidence, keys, events: { events }, tokens }, null, 2)}\n`;
  return { name, text, command: `cms verify ${name}` };
}
