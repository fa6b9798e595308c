import StatusIndicator from '@cloudscape-design/components/status-indicator';
import type { Schemas } from '../../client/index.ts';

export function AssetState({ state }: { state: Schemas['AssetRow']['state'] }) {
  return state === 'ready' ? (
    <StatusIndicator type="success">Ready</StatusIndicator>
  ) : (
    <StatusIndicator type="pending">Not uploaded yet</StatusIndicator>
  );
}
