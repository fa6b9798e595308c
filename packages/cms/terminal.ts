/** What a command uses of the process that runs it. */
export interface Terminal {
  env: Record<string, string | undefined>;
  home: string;
  /** The name of the user on this machine, if it has one. */
  userName: string | undefined;
  /** Prints results. */
  out: (text: string) => void;
  /** Prints progress, notes and errors. */
  err: (text: string) => void;
  /** The width of standard output in characters. Undefined if it is not a terminal. */
  columns: number | undefined;
  /** Whether standard output takes colours. */
  colours: boolean;
  /** Whether standard error is a terminal, which shows progress. */
  showsProgress: boolean;
  /** Asks a question and returns the answer. Undefined if nobody can answer. */
  ask: ((question: string, options?: { hidden?: boolean }) => Promise<string>) | undefined;
  /** Opens a web page. */
  openPage: (url: string) => void;
  now: () => number;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}
