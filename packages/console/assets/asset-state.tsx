import type { Schemas } from 'computation-management-client';
import { StatusIndicator } from '../show/status-indicator.tsx';

export function AssetState({ state }: { state: Schemas['AssetRow']['state'] }) {
  return state === 'ready' ? (
    <StatusIndicator type="success">Ready</StatusIndicator>
  ) : (
    <StatusIndicator type="pending">Not uploaded yet</StatusIndicator>
  );
}
