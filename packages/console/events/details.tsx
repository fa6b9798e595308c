import { Fragment } from 'react';
import { Name } from '../show/visible-texts.tsx';
import { detailsOf } from './event-texts.ts';

/** The details of an event: each value in a box, because an agent may send any. */
export function Details({ of, without }: { of: string; without?: string }) {
  return detailsOf(of, without).map(({ name, value }, index) => (
    <Fragment key={index}>
      {index > 0 && ', '}
      {/^[\w ]*(: )?$/.test(name) ? name : <Name of={name} />}
      <Name of={value} />
    </Fragment>
  ));
}
