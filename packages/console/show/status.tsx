import { StatusIndicator as Indicator, type StatusIndicatorProps } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';

/** Shows a status with its icon. Wraps Cloudscape's own component, which may break words anywhere. */
export function StatusIndicator({ children, ...props }: StatusIndicatorProps) {
  return (
    <Indicator {...props}>
      <span className="whole-words">{children}</span>
    </Indicator>
  );
}

/** The icon and the text that show a state. */
export interface Look {
  type: StatusIndicatorProps.Type;
  text: string;
}

/** Shows a state with its icon. */
export function Looking({ like: { type, text } }: { like: Look }) {
  return <StatusIndicator type={type}>{text}</StatusIndicator>;
}

type ComputationStatus = Schemas['ComputationRow']['status'];

const looks: Record<ComputationStatus, Look> = {
  created: { type: 'pending', text: 'Created' },
  running: { type: 'in-progress', text: 'Running' },
  stopping: { type: 'in-progress', text: 'Stopping' },
  completed: { type: 'success', text: 'Completed' },
  failed: { type: 'error', text: 'Failed' },
  cancelled: { type: 'stopped', text: 'Cancelled' },
};

/** The statuses of computations and runs, as options of a filter. Runs are never `created`. */
export const statusOptions = Object.entries(looks).map(([value, { text }]) => ({
  value: value as ComputationStatus,
  label: text,
}));

export function statusText(status: ComputationStatus): string {
  return looks[status].text;
}

export function Status({ status }: { status: ComputationStatus }) {
  const { type, text } = looks[status];
  return (
    <StatusIndicator type={type} wrapText={false}>
      {text}
    </StatusIndicator>
  );
}

export function AssetState({ state }: { state: Schemas['AssetRow']['state'] }) {
  return (
    <Looking like={state === 'ready' ? { type: 'success', text: 'Ready' } : { type: 'pending', text: 'Not uploaded yet' }} />
  );
}
