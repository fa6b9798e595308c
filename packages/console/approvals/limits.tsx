import type { Schemas } from 'computation-management-client';
import { limitsOf } from 'computation-management-formats/approval-text';
import { useState } from 'react';
import { serviceNow } from '../show/service-clock.ts';
import { momentText, namesIn } from '../show/texts.ts';
import { Time } from '../show/time.tsx';
import { Names } from '../show/visible-texts.tsx';
import { expiryAfter } from './approval.ts';

/** Shows on which CVMs and until when an approval counts. Shows nothing for an approval without limits. */
export function Limits({ cvm_ids, expires_at }: Pick<Schemas['Approval'], 'cvm_ids' | 'expires_at'>) {
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
  const cvm_ids = namesIn(cvms);
  const options = [
    ...(kept === undefined || isOver ? [] : [{ value: 'kept', label: `Until ${momentText(kept)}, as before` }]),
    ...lifetimes,
  ];
  return {
    /** The CVMs as typed, separated by commas. */
    cvms,
    /** True if the end of the earlier approval has passed, so that the user must choose another one. */
    isOver,
    options,
    until: options.find(({ value }) => value === lifetime),
    limits: limitsOf({ cvm_ids: cvm_ids.length > 0 ? cvm_ids : null, expires_at: chosen ? chosen.expires_at : kept }),
    choose: (value: string) =>
      setChosen(value === 'kept' ? undefined : { lifetime: value, expires_at: expiryAfter(value, serviceNow()) }),
    type: setTyped,
  };
}
