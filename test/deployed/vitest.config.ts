import { defineConfig } from 'vitest/config';
import base from '../../vitest.base.config.ts';

/** The tests of what only a stage on AWS shows. */
export default defineConfig({ test: { ...base.test, include: ['test/deployed/*.deployed.ts'] } });
