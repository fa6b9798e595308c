import { useEffect, useState } from 'react';
import { durationText } from '../show/moment.ts';
import { serviceNow } from '../show/service-clock.ts';

/** The time between two moments, or until now. It goes on by the second. */
export function Elapsed({ from, to }: { from: string; to: string | null }) {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    if (to !== null) return undefined;
    const timer = setInterval(() => setNow(serviceNow()), 1_000);
    return () => clearInterval(timer);
  }, [to]);
  return <>{durationText((to === null ? now : Date.parse(to)) - Date.parse(from))}</>;
}
