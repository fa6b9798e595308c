import { Box, Button, StatusIndicator } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useLayoutEffect, useRef, useState } from 'react';
import { detailsOf, eventMark, eventStatusText, eventText } from '../events/event-texts.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useLoaded } from '../loading/use-loaded.ts';
import { useDomain } from '../access/console-context.ts';
import { focusOn, isFocusLost } from '../frame/focus.ts';
import { offsetText } from '../show/texts.ts';
import { Time } from '../show/time.tsx';
import { User } from '../show/visible-texts.tsx';
import { eventsBefore, shownEvents } from './watched-run.ts';
import { Details } from '../events/events-table.tsx';

/**
 * The name of the detail of an event with the time by the reporter's clock. It is left out, because the service's own time of the event is
 * shown.
 */
const reportersClock = 'occurred_at';

interface Props {
  run: Schemas['Run'];
  events: readonly Schemas['Event'][];
  /** The number of the run's events that come before `events`. */
  earlier: number;
  isLive: boolean;
  /**
   * True once the events recorded before the screen was opened are loaded. All further events are new, and screen readers announce them.
   */
  announces: boolean;
}

/** Shows the events of a run, oldest first; of a long run, only the latest. Screen readers announce new events. */
export function Timeline({ run, events, earlier, isLive, announces }: Props) {
  const { client } = useDomain();
  const [asksForAll, setAsksForAll] = useState(false);
  const loaded = useLoaded(`${run.id} ${asksForAll}`, async (signal) => {
    const [first] = events;
    return asksForAll && earlier > 0 && first ? await eventsBefore(client, run, first, signal) : [];
  });
  const before = asksForAll ? loaded.value : undefined;
  const showsAll = before !== undefined;
  const { shown, hidden } = shownEvents([...(before ?? []), ...events], showsAll);
  const notShown = hidden + (showsAll ? 0 : earlier);
  const startedAt = Date.parse(run.started_at);
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    // The button that has asked for all events is gone now.
    if (showsAll && isFocusLost()) focusOn(list.current?.querySelector('li'));
  }, [showsAll]);
  return (
    <>
      <ProblemAlert problem={loaded.problem} retry={loaded.reload} isRetrying={loaded.isLoading} />
      {notShown > 0 && (
        <Box padding={{ vertical: 'm' }}>
          <Button loading={asksForAll && loaded.isLoading} onClick={() => setAsksForAll(true)}>
            Show {notShown.toLocaleString('en')} earlier events
          </Button>
        </Box>
      )}
      <ol
        // Another list has another key: screen readers do not announce its earlier events.
        key={showsAll ? 'all' : 'latest'}
        ref={list}
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
            <Box variant="strong">{eventText(event.event_type)}</Box> <Box variant="span">{eventStatusText(event)}</Box>
            <Box variant="small" display="block" color="text-body-secondary">
              <Time at={event.timestamp} />, {offsetText(Date.parse(event.timestamp) - startedAt)}, by{' '}
              <User of={event.originator} />
            </Box>
            {detailsOf(event.details, reportersClock).length > 0 && (
              <Box variant="small">
                <Details of={event.details} without={reportersClock} />
              </Box>
            )}
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
