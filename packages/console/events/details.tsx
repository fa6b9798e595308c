import { Fragment } from 'react';
import { Name } from '../show/visible-texts.tsx';
import { detailsOf } from './event-texts.ts';

/** A word, or a time: it cannot pass for more than the value of its field. */
const plainly = /^([\w:+/.@=-]+|\d+ \w{3} \d{4}, \d\d:\d\d:\d\d [\w+-]+)$/;

/** The details of an event: values of more words in a box, because an agent may send any. */
export function Details({ of, without }: { of: string; without?: string }) {
  return detailsOf(of, without).map(({ name, value }, index) => (
    <Fragment key={index}>
      {index > 0 && ', '}
      {name !== '' && <>{/^[\w ]*$/.test(name) ? name : <Name of={name} />}: </>}
      {plainly.test(value) ? value : <Name of={value} />}
    </Fragment>
  ));
}
