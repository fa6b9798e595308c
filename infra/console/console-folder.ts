import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The sources of the web console. */
export const consoleSources = join(root, 'packages/console');

/** `npm run build` writes the web console here, if a stage has one. */
export const consoleFolder = join(root, 'dist/console');
