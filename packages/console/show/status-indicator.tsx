import Indicator, { type StatusIndicatorProps } from '@cloudscape-design/components/status-indicator';

/** A status with its icon. Cloudscape's own may break its words anywhere. */
export function StatusIndicator({ children, ...props }: StatusIndicatorProps) {
  return (
    <Indicator {...props}>
      <span className="whole-words">{children}</span>
    </Indicator>
  );
}
