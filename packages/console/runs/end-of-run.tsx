import { Button } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useEffect, useEffectEvent, useState } from 'react';
import { statusText } from '../show/status.tsx';

/** Tells a user who looks elsewhere that a watched run has ended: in the browser's tab, and by a notification if one was asked for. */
export function EndOfRun({ run: { id, status, ended_at }, name }: { run: Schemas['Run']; name: string }) {
  const [isAsked, setAsked] = useState(false);
  const [wasActive] = useState(ended_at === null);
  const hasEnded = wasActive && ended_at !== null;
  const tell = useEffectEvent(() => {
    document.title = `${statusText(status)}: ${name}`;
    if (isAsked && Notification.permission === 'granted') new Notification(`${statusText(status)}: ${name}`, { tag: id });
  });
  useEffect(() => {
    if (hasEnded) tell();
  }, [hasEnded]);
  const isOffered = ended_at === null && 'Notification' in window && Notification.permission !== 'denied';
  if (!isOffered) return null;
  return (
    <Button
      iconName={isAsked ? 'notification' : 'status-pending'}
      disabled={isAsked}
      disabledReason="The browser will notify you. Keep this page open."
      onClick={() => void Notification.requestPermission().then((answer) => setAsked(answer === 'granted'))}
    >
      Notify me at its end
    </Button>
  );
}
