/** Why a file of the kept state cannot be used, and what to do about it. */
export interface BrokenFile {
  file: string;
  /** `it is empty`, say. */
  problem: string;
  /** What deleting the file loses. */
  withoutIt: string;
}

/** The kept state has broken files. Nothing was changed: the owner decides what to restore and what to give up. */
export class BrokenFilesError extends Error {
  override readonly name = 'BrokenFilesError';

  constructor(files: BrokenFile[]) {
    const lines = files.map(({ file, problem, withoutIt }) => `  ${file}: ${problem}. ${withoutIt}`);
    super(
      `The kept state has ${files.length === 1 ? 'a broken file' : `${files.length} broken files`}; a full disk or a crash may leave such:\n` +
        `${lines.join('\n')}\nRestore ${files.length === 1 ? 'it' : 'them'} from a backup, or delete ${files.length === 1 ? 'it' : 'them'}, and start again.`,
    );
  }
}
