import { useEffect, useState } from 'react';
import { durationText } from '../show/moment.ts';

/** The time between two moments, or until now. It goes on by the second. */
export function Elapsed({ from, to }: { from: string; to: string | null }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (to !== null) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [to]);
  return <>{durationText((to === null ? now : Date.parse(to)) - Date.parse(from))}</>;
}
