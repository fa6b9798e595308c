import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import StatusIndicator from '@cloudscape-design/components/status-indicator';
import { useState } from 'react';
import type { Schemas } from '../../client/index.ts';
import { detailsText } from '../events/event-details.ts';
import { eventMark, eventText } from '../events/event-look.ts';
import { momentText, offsetText } from '../show/moment.ts';
import { shownEvents } from './shown-events.ts';

/** The service's own time of the event is shown instead. */
const reportersClock = 'occurred_at';

interface Props {
  events: readonly Schemas['Event'][];
  isLive: boolean;
  /** Whether those that come from now on are new, and not what was recorded before the screen was opened. */
  announces: boolean;
}

/** The events of a run as they happened, oldest first, of a long run the latest. Screen readers announce those that come. */
export function Timeline({ events, isLive, announces }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const { shown, hidden } = shownEvents(events, showsAll);
  const startedAt = Date.parse(events[0]?.timestamp ?? '');
  return (
    <>
      {hidden > 0 && (
        <Box padding={{ bottom: 'm' }}>
          <Button onClick={() => setShowsAll(true)}>Show {hidden} earlier events</Button>
        </Box>
      )}
      <ol
        // Another list has another key: screen readers do not announce its earlier events.
        key={showsAll ? 'all' : 'latest'}
        className="timeline"
        aria-label="Events of the run"
        aria-live={announces ? 'polite' : 'off'}
        aria-relevant="additions"
      >
        {shown.map((event) => (
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
    </>
  );
}

function Details({ details }: { details: string }) {
  const text = detailsText(details, { without: reportersClock });
  return text === '' ? null : <Box variant="small">{text}</Box>;
}
