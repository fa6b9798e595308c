import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../vitest.base.config.ts';

const order = (process.env['MUTANTS_ORDER'] ?? '').split(',');

/** The order that is asked for, so that the quickest and likeliest tests come first. */
class GivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => order.findIndex((file) => moduleId.endsWith(file));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

/** How tests run against a mutant: one file after the other, up to the first failure. */
export default mergeConfig(
  base,
  defineConfig({
    test: {
      bail: 1,
      maxWorkers: 1,
      sequence: { sequencer: GivenOrder },
      setupFiles: ['test/mutants/record-reached.ts'],
    },
  }),
);
