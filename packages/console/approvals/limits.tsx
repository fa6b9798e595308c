import type { Schemas } from 'computation-management-client';
import { limitsOf } from 'computation-management-formats/consent';
import { useState } from 'react';
import { momentText, Names, namesIn, serviceNow, Time } from '../show/index.ts';
import { expiryAfter, runsIn, runsText } from './approval.ts';

type Limited = Pick<Schemas['Approval'], 'cvm_ids' | 'expires_at' | 'max_runs' | 'used_runs'>;

/** Shows on which CVMs, until when and for how many runs an approval counts. Shows nothing for an approval without limits. */
export function Limits({ cvm_ids, expires_at, max_runs, used_runs }: Limited) {
  return (
    <>
      {cvm_ids?.length ? (
        <div>
          Only on <Names of={cvm_ids} />
        </div>
      ) : null}
      {expires_at !== null && (
        <div>
          Until <Time at={expires_at} />
        </div>
      )}
      {max_runs !== null && <div>{runsText({ max_runs, used_runs })}</div>}
    </>
  );
}

const lifetimes = [
  { value: '', label: 'Until something changes' },
  { value: '1', label: 'For a day' },
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
];

export type ChosenLimits = ReturnType<typeof useLimits>;

/**
 * Keeps the limits of an approval that the user chooses.
 * @param before the approval that the user gave before, whose limits are proposed again
 */
export function useLimits(before: Schemas['Approval'] | undefined) {
  const [chosen, setChosen] = useState<{ lifetime: string; expires_at: string | undefined }>();
  const [typed, setTyped] = useState<string>();
  const cvms = typed ?? before?.cvm_ids?.join(', ') ?? '';
  const kept = before?.expires_at ?? undefined;
  const isOver = chosen === undefined && kept !== undefined && Date.parse(kept) <= serviceNow();
  const lifetime = isOver ? undefined : (chosen?.lifetime ?? (kept === undefined ? '' : 'kept'));
  const [typedRuns, typeRuns] = useState<string>();
  const runs = typedRuns ?? before?.max_runs?.toString() ?? '';
  const max_runs = runsIn(runs);
  const cvm_ids = namesIn(cvms);
  const options = [
    ...(kept === undefined || isOver ? [] : [{ value: 'kept', label: `Until ${momentText(kept)}, as before` }]),
    ...lifetimes,
  ];
  return {
    /** The CVMs as typed, separated by commas. */
    cvms,
    /** The number of runs as typed. Empty: any number. */
    runs,
    typeRuns,
    /** True if the typed number of runs is none that an approval can have. */
    areRunsWrong: max_runs === undefined,
    /** True if the end of the earlier approval has passed, so that the user must choose another one. */
    isOver,
    options,
    until: options.find(({ value }) => value === lifetime),
    limits: limitsOf({ cvm_ids: cvm_ids.length > 0 ? cvm_ids : null, expires_at: chosen ? chosen.expires_at : kept, max_runs }),
    choose: (value: string) =>
      setChosen(value === 'kept' ? undefined : { lifetime: value, expires_at: expiryAfter(value, serviceNow()) }),
    type: setTyped,
  };
}
