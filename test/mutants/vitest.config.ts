import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { projects } from '../../vitest.config.ts';

const order = (process.env['MUTANTS_ORDER'] ?? '').split(',');

/** The order that is asked for, so that the quickest and likeliest tests come first. */
class GivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => order.findIndex((file) => moduleId.endsWith(file));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

const isRecorded = process.env['MUTANTS_REACHED'] !== undefined;
const maxWorkers = Number(process.env['MUTANTS_WORKERS'] ?? 1);
const setupFiles = ['test/mutants/record-reached.ts'];

/**
 * How tests run against a mutant: one file after the other, up to the first failure. While it is recorded what they reach, all run,
 * each in a process of its own: a file that shares another one's process does not load again what that one has loaded.
 */
export default defineConfig({
  test: {
    bail: isRecorded ? 0 : 1,
    maxWorkers,
    sequence: { sequencer: GivenOrder },
    projects: projects.map(({ test }) => ({
      test: { ...test, maxWorkers, setupFiles, isolate: isRecorded || test.isolate },
    })),
  },
});
