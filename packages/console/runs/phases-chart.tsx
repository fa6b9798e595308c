import { StatusIndicator } from '../show/status.tsx';
import { durationText } from '../show/texts.ts';
import type { Phase } from './phases.ts';

const marks = { done: 'success', active: 'in-progress', failed: 'error' } as const;

/** The phases of a run on one axis of time. */
export function PhasesChart({ phases }: { phases: readonly Phase[] }) {
  const begin = phases[0]?.from ?? 0;
  const whole = Math.max(1, (phases.at(-1)?.to ?? 0) - begin);
  const share = (milliseconds: number) => `${(100 * milliseconds) / whole}%`;
  return (
    <ol className="phases" aria-label="Phases of the run">
      {phases.map(({ name, from, to, state }) => (
        <li key={`${name} ${from}`}>
          <StatusIndicator type={marks[state]}>{name}</StatusIndicator>
          <span className="phase-track" aria-hidden="true">
            <span
              className={`phase-bar ${state}`}
              style={{ insetInlineStart: share(from - begin), inlineSize: share(to - from) }}
            />
          </span>
          <span>{to - from < 1_000 ? 'under 1 s' : durationText(to - from)}</span>
        </li>
      ))}
    </ol>
  );
}
