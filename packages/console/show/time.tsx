import Box from '@cloudscape-design/components/box';
import { agoText, momentText } from './moment.ts';
import { useNow } from './use-now.ts';

/** A point in time, with how long ago that is. */
export function Moment({ at }: { at: string }) {
  return (
    <>
      <time dateTime={at}>{momentText(at)}</time>
      <Box variant="small" display="block" color="text-body-secondary">
        {agoText(at, useNow())}
      </Box>
    </>
  );
}

/** How long ago something was. The point in time is its title. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={momentText(at)}>
      {agoText(at, useNow())}
    </time>
  );
}
