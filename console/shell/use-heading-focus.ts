import { type RefObject, useEffect, useRef, useState } from 'react';
import { focusHeading } from './focus-heading.ts';

interface HeadingFocus {
  /** For the text of the heading. */
  heading: RefObject<HTMLSpanElement | null>;
  /** Moves the focus to the heading, after a dialog that closes at the same time has given it back. */
  moveFocus: () => void;
}

/** For a panel with buttons that go with what they have changed: the focus would go with them. */
export function useHeadingFocus(): HeadingFocus {
  const heading = useRef<HTMLSpanElement>(null);
  const [moves, setMoves] = useState(0);
  useEffect(() => {
    if (moves > 0) focusHeading(heading.current?.closest('h2'));
  }, [moves]);
  return { heading, moveFocus: () => setMoves((before) => before + 1) };
}
