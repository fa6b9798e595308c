import type { Terminal } from '../terminal.ts';

/** A line at the bottom of a terminal that shows that a command is still waiting. */
export interface LiveLine {
  /** Prints text on standard output, above the line. */
  print: (text: string) => void;
  /** Prints text on standard error, above the line. */
  note: (text: string) => void;
  stop: () => void;
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const clear = '\r\u001b[K';

/** Shows how long a run has taken so far, where standard error is a terminal. */
export function liveLine({ out, err, showsProgress, now }: Terminal, startedAt: number): LiveLine {
  if (!showsProgress) return { print: out, note: err, stop: () => undefined };
  let frame = 0;
  const show = () => {
    const seconds = Math.max(0, Math.floor((now() - startedAt) / 1_000));
    err(`${clear}${frames[frame++ % frames.length] ?? ''} ${seconds} s`);
  };
  const timer = setInterval(show, 120);
  const above = (write: (text: string) => void) => (text: string) => {
    err(clear);
    write(text);
    show();
  };
  let isStopped = false;
  return {
    print: above(out),
    note: above(err),
    stop: () => {
      if (isStopped) return;
      isStopped = true;
      clearInterval(timer);
      err(clear);
    },
  };
}
