import { type ReactNode, useEffect, useRef, useState } from 'react';
import { problemText, useLoaded } from '../loading/index.ts';

/** The time for which a row must be in view before it asks the service. A row that is only scrolled past asks nothing. */
const pauseInMilliseconds = 400;

interface Props<Value> {
  /** The text that identifies what is asked. With another text, the row asks anew. */
  of: string;
  ask: (signal: AbortSignal) => Promise<Value>;
  /** The number of times that the list was loaded again. With each, a row in view asks again, and shows the former answer meanwhile. */
  round?: number;
  /** Returns what is shown. Before the answer, the value is undefined. */
  children: (value: Value | undefined) => ReactNode;
}

/** Shows in a row of a list what only a request of its own tells. Asks once the row stays in view, of all rows at most three at once. */
export function RowFact<Value>({ of, ask, round = 0, children }: Props<Value>) {
  const place = useRef<HTMLDivElement>(null);
  const [asked, setAsked] = useState<number>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const observer = new IntersectionObserver(([entry]) => {
      clearTimeout(timer);
      if (entry?.isIntersecting) timer = setTimeout(() => setAsked(round), pauseInMilliseconds);
    });
    if (place.current) observer.observe(place.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [round]);
  const { value, problem } = useLoaded(
    `${of} ${asked === undefined}`,
    (signal) => (asked === undefined ? Promise.resolve(undefined) : inTurn(() => ask(signal))),
    { round: asked },
  );
  return <div ref={place}>{problem === undefined ? children(value) : `Not known. ${problemText(problem).detail}`}</div>;
}

const asking: Promise<unknown>[] = [Promise.resolve(), Promise.resolve(), Promise.resolve()];

function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  const answer = Promise.resolve(asking.shift()).then(ask);
  asking.push(answer.catch(() => undefined));
  return answer;
}
