import { defineConfig } from 'vitest/config';
import base from '../../vitest.base.config.ts';

/** What only a stage on AWS shows. */
export default defineConfig({ test: { ...base.test, include: ['test/deployed/*.deployed.ts'] } });
