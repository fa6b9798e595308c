import Box from '@cloudscape-design/components/box';
import StatusIndicator from '@cloudscape-design/components/status-indicator';
import type { Schemas } from '../../client/index.ts';
import { detailsText } from '../events/event-details.ts';
import { eventMark, eventText } from '../events/event-look.ts';
import { momentText, offsetText } from '../show/moment.ts';

/** The service's own time of the event is shown instead. */
const reportersClock = 'occurred_at';

interface Props {
  events: readonly Schemas['Event'][];
  isLive: boolean;
  /** Whether those that come from now on are new, and not what was recorded before the screen was opened. */
  announces: boolean;
}

/** The events of a run as they happened, oldest first. Screen readers announce those that come. */
export function Timeline({ events, isLive, announces }: Props) {
  const startedAt = Date.parse(events[0]?.timestamp ?? '');
  return (
    <ol className="timeline" aria-label="Events of the run" aria-live={announces ? 'polite' : 'off'} aria-relevant="additions">
      {events.map((event) => (
        <li key={event.id}>
          <span className="mark" aria-hidden="true">
            <StatusIndicator type={eventMark(event)} />
          </span>
          <Box variant="strong">{eventText(event.event_type)}</Box>{' '}
          {!['success', 'failure'].includes(event.status) && <Box variant="span">({event.status})</Box>}
          <Box variant="small" display="block" color="text-body-secondary">
            <time dateTime={event.timestamp}>{momentText(event.timestamp)}</time>,{' '}
            {offsetText(Date.parse(event.timestamp) - startedAt)}, by {event.originator}
          </Box>
          <Details details={event.details} />
        </li>
      ))}
      {isLive && (
        <li>
          <span className="mark" aria-hidden="true">
            <StatusIndicator type="in-progress" />
          </span>
          <Box color="text-body-secondary">Waiting for the next event</Box>
        </li>
      )}
    </ol>
  );
}

function Details({ details }: { details: string }) {
  const text = detailsText(details, { without: reportersClock });
  return text === '' ? null : <Box variant="small">{text}</Box>;
}
