import type { Schemas } from 'computation-management-client';

/** The likely repair of a failed run, by the phase in which it failed. */
const repairs: Record<string, string> = {
  'Waiting for the CVM': 'The CVM did not take the run. Ask its owner whether its agent runs, or run again on another CVM.',
  'Receiving the algorithm':
    'The algorithm did not arrive. Its provider sends it again with cms send, once a new run waits for it.',
  'Receiving the data': 'A dataset did not arrive. Its provider sends it again with cms send, once a new run waits for it.',
  'Running the algorithm':
    'Likely the algorithm: it ended with an error. Its provider repairs it, tries it on a sample, and uploads it again.',
  'Result ready': 'The result was not fetched in time. Run again, and fetch it with cms result as soon as it is ready.',
};

/**
 * Returns the likely repair of a failed run.
 * @param phase the name of the phase in which it failed
 * @param refusal why the key of a file was refused, if the run failed for this reason
 */
export function repairOf(
  { reason, reason_code }: Pick<Schemas['Run'], 'reason' | 'reason_code'>,
  phase: string,
  refusal?: string,
): string {
  if (refusal !== undefined) {
    return 'The machine did not get the key of a file. Whoever can change what the reason names does so, then run again.';
  }
  if (reason_code === 'input_changed') {
    return 'A file at its address is another than the approved one. Its provider restores it, or declares the new one, which is approved anew.';
  }
  if (/attest|evidence|measurement/i.test(reason ?? '')) {
    return 'The machine did not prove what the policy demands. Restart its agent, choose another CVM, or change the policy.';
  }
  return repairs[phase] ?? 'Run again. If it fails in the same way, ask the owner of the CVM for the log of its agent.';
}
