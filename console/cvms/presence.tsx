import type { Schemas } from '../../client/index.ts';
import { StatusIndicator } from '../show/status-indicator.tsx';

type PresenceOfCvm = Schemas['Presence'];

export function Presence({ presence: { state } }: { presence: PresenceOfCvm }) {
  return state === 'connected' ? (
    <StatusIndicator type="success">Connected</StatusIndicator>
  ) : (
    <StatusIndicator type="stopped">Disconnected</StatusIndicator>
  );
}

/** Whether the CVM can take a run. */
export function Fit({ presence: { fit } }: { presence: PresenceOfCvm }) {
  switch (fit) {
    case 'ready':
      return <StatusIndicator type="success">Ready for a run</StatusIndicator>;
    case 'busy':
      return <StatusIndicator type="in-progress">Busy with a run</StatusIndicator>;
    case 'spent':
      return <StatusIndicator type="warning">Spent: restart its agent</StatusIndicator>;
    case 'unknown':
      return <StatusIndicator type="info">Unknown</StatusIndicator>;
  }
}
