/** A file of the kept state that cannot be used, and why. */
export interface BrokenFile {
  file: string;
  /** Such as `it is empty`. */
  problem: string;
  /** What is lost if the file is deleted. */
  withoutIt: string;
}

/** The kept state has broken files. Nothing was changed: the user decides what to restore and what to delete. */
export class BrokenFilesError extends Error {
  override readonly name = 'BrokenFilesError';

  constructor(files: BrokenFile[]) {
    const lines = files.map(({ file, problem, withoutIt }) => `  ${file}: ${problem}. ${withoutIt}`);
    super(
      `The state has ${files.length === 1 ? 'a broken file' : `${files.length} broken files`}. A full disk or a crash can cause this.\n` +
        `${lines.join('\n')}\nRestore ${files.length === 1 ? 'it' : 'them'} from a backup, or delete ${files.length === 1 ? 'it' : 'them'}, and start again.`,
    );
  }
}
