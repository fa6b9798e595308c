import { defineConfig } from 'vitest/config';
import { projects } from '../../vitest.config.ts';
import { root } from './covered.ts';

const recorder = 'test/mutants/record-coverage.ts';
/** The tests outside the browser, which record what they run. */
const recording = projects
  .filter(({ test }) => test.name !== 'browser')
  .map(({ test }) => ({ root, test: { ...test, setupFiles: ['setupFiles' in test ? test.setupFiles : [], recorder].flat() } }));

export default defineConfig({ root, test: { projects: recording } });
