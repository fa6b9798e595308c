import { Box, StatusIndicator } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useLayoutEffect, useRef, useState } from 'react';
import { detailsOf, eventMark, eventStatusText, eventText } from '../events/event-texts.ts';
import { ActionButton } from '../loading/index.ts';
import { useDomain } from '../access/index.ts';
import { focusOn, isFocusLost } from '../frame/index.ts';
import { Name, offsetText, Time, User } from '../show/index.ts';
import { assetOfKey } from './key-events.ts';
import { allEvents, shownEvents } from './watched-run.ts';
import { Details } from '../events/events-table.tsx';

/**
 * The name of the detail of an event with the time by the reporter's clock. It is left out, because the service's own time of the event is
 * shown.
 */
const reportersClock = 'occurred_at';

interface Props {
  run: Schemas['Run'];
  events: readonly Schemas['Event'][];
  /** The number of the run's earlier events that are not among `events`. */
  earlier: number;
  /** The assets of the computation, by which the files of keys are named. */
  assets: readonly Pick<Schemas['AssetOfComputation'], 'id' | 'file_name'>[];
  isLive: boolean;
  /**
   * True once the events recorded before the screen was opened are loaded. All further events are new, and screen readers announce them.
   */
  announces: boolean;
}

/** Shows the events of a run, oldest first; of a long run, only the latest and those about keys of files. Screen readers announce new events. */
export function Timeline({ run, events, earlier, assets, isLive, announces }: Props) {
  const { client } = useDomain();
  const [all, setAll] = useState<Schemas['Event'][]>();
  const showsAll = all !== undefined;
  const readAll = async () => setAll(await allEvents(client, { id: run.computation_id, run: run.id }));
  const shown = all ? [...new Map([...all, ...events].map((event) => [event.id, event])).values()] : shownEvents(events);
  const notShown = earlier + events.length - shown.length;
  const startedAt = Date.parse(run.started_at);
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    // The button that has asked for all events is gone now.
    if (showsAll && isFocusLost()) focusOn(list.current?.querySelector('li'));
  }, [showsAll]);
  return (
    <>
      {!showsAll && notShown > 0 && (
        <Box padding={{ vertical: 'm' }}>
          <ActionButton act={readAll}>Show {notShown.toLocaleString('en')} earlier events</ActionButton>
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
            <Box variant="strong">{eventText(event.event_type)}</Box> <FileOfKey event={event} assets={assets} />
            <Box variant="span">{eventStatusText(event)}</Box>
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

/** Shows the name of the file whose key an event released or refused. Shows nothing for other events, and files that are no longer linked. */
function FileOfKey({ event, assets }: { event: Schemas['Event'] } & Pick<Props, 'assets'>) {
  const of = assetOfKey(event);
  const file = assets.find(({ id }) => id === of);
  return file && <Name of={file.file_name} />;
}
