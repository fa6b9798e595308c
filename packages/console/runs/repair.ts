import type { Schemas } from 'computation-management-client';

const running = 'Running the algorithm';
const isUnsent = 'It was not sent in time. Run again, and ask its provider to send it with cms send then.';

/** The likely repair of a failed run, by the phase in which it failed. Begins with what failed. */
const repairs: Partial<Record<string, string>> = {
  'Waiting for the CVM': 'The CVM did not take the run. Ask its owner whether its agent runs, or run again on another CVM.',
  'Receiving the algorithm': `The algorithm did not arrive. ${isUnsent}`,
  'Receiving the data': `A dataset did not arrive. ${isUnsent}`,
  [running]:
    'The algorithm failed. Likely it ended with an error. Its provider repairs it, tries it on a sample, and uploads it again.',
  'Result ready': 'The result was not fetched in time. Run again, and fetch it with cms result as soon as it is ready.',
};

/** Matches the reasons that leave open what failed, so that the phase says more. */
const open = /^(The CVM (failed|rejected)|The algorithm ended|The run took longer|No CVM accepted)/;

/**
 * Returns what failed in a run, its likely repair, and whether the log of the algorithm may tell more.
 * @param phase the name of the phase in which it failed
 * @param refusal why the key of a file was refused, if the run failed for this reason
 */
export function repairOf(run: Pick<Schemas['Run'], 'reason' | 'reason_code'>, phase: string, refusal?: string) {
  const what = run.reason ?? 'No reason was given.';
  const because = (repair: string) => ({ what, repair, isInLog: false });
  if (refusal !== undefined)
    return because(
      'The machine did not get the key of a file. Whoever can change what the reason names does so, then run again.',
    );
  if (run.reason_code === 'input_changed')
    return because(
      'A file at its address is another than the approved one. Its provider restores it, or declares the new one, which is approved anew.',
    );
  if (/^The agent (could not|did not|got no)/.test(what))
    return because('Its provider repairs what the reason names, then run again.');
  if (/attest|evidence|measurement/i.test(what))
    return because('The machine did not prove what the policy demands. Restart its agent, or choose another CVM.');
  const isOpen = run.reason === null || open.test(what);
  const unknown = `${isOpen ? 'The reason is not known. ' : ''}Run again; if it fails again, ask the owner of the CVM.`;
  const repair = isOpen ? repairs[phase] : undefined;
  const [failed = ''] = /^.*?\./.exec(repair ?? what) ?? [];
  return { what: what === 'The CVM failed.' ? failed : what, repair: repair ?? unknown, isInLog: phase === running };
}
