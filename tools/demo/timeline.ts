import { styleText } from 'node:util';

/** Prints the output of the demo: a line for each step and event, with its duration. Uses colours only on a terminal. */
export interface Timeline {
  chapter: (title: string) => void;
  /** Does a step of the demo, and prints a line with the text that `act` returns. Marks a failure of `act` and rethrows it. */
  step: (who: string, what: string, act: () => Promise<string>) => Promise<void>;
  /** Prints a recorded event of a run. @param seconds from the start of the run to the event */
  event: (seconds: number, what: string, status: string, originator: string) => void;
}

interface Line {
  mark: string;
  /** The time of the step's start in milliseconds, by `performance.now()`. */
  startedAt: number;
  who: string;
  what: string;
  detail: string;
}

const whoWidth = 9;
const whatWidth = 34;

export function printTimeline(): Timeline {
  const print = (line: string) => void process.stdout.write(`${line.trimEnd()}\n`);
  const line = ({ mark, startedAt, who, what, detail }: Line) => {
    const took = styleText('dim', duration(performance.now() - startedAt).padStart(7));
    print(`  ${mark} ${took}  ${styleText('cyan', who.padEnd(whoWidth))} ${what.padEnd(whatWidth)} ${detail}`);
  };
  return {
    chapter: (title) => print(`\n  ${styleText('bold', title)}`),
    step: async (who, what, act) => {
      const startedAt = performance.now();
      try {
        const detail = await act();
        line({ mark: styleText('green', '✓'), startedAt, who, what, detail });
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        line({ mark: styleText('red', '✗'), startedAt, who, what, detail });
        throw error;
      }
    },
    event: (seconds, what, status, originator) => {
      const at = `+${seconds.toFixed(1)} s`.padStart(9);
      print(styleText('dim', `  │${at}  ${originator.padEnd(whoWidth)} `) + `${what.padEnd(whatWidth)} ${status}`);
    },
  };
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
