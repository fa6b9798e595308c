import { Box } from '@cloudscape-design/components';
import { useNow } from './service-clock.ts';
import { agoText, durationText, momentText } from './texts.ts';

/** Shows a point in time in the zone of the browser. The tooltip has it in UTC. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${at} (UTC)`}>
      {momentText(at)}
    </time>
  );
}

/** Shows a point in time, with how long ago the point is. */
export function Moment({ at }: { at: string }) {
  return (
    <>
      <Time at={at} />
      <Box variant="small" display="block" color="text-body-secondary">
        {agoText(at, useNow())}
      </Box>
    </>
  );
}

/** Shows how long ago a point in time is. The tooltip has the point in time. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${momentText(at)}, ${at} (UTC)`}>
      {agoText(at, useNow())}
    </time>
  );
}

/** Shows the time between two moments. Without an end, shows the time since the first moment, which goes on by the second. */
export function Elapsed({ from, to }: { from: string; to: string | null }) {
  const now = useNow(to === null ? 1 : null);
  return <>{durationText((to === null ? now : Date.parse(to)) - Date.parse(from))}</>;
}
