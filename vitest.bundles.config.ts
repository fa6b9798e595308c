import { mergeConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The end-to-end suite, with the functions as they are deployed: bundled, with the variables that CDK gives them. */
export default mergeConfig(config, { test: { globalSetup: ['test/support/build-bundles.ts'] } });
