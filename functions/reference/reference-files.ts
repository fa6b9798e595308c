import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The paths under which the API reference is served. */
export const referencePaths = [
  '/docs',
  '/docs/docs.js',
  '/docs/docs.css',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
  '/docs/favicon.png',
] as const;
type ReferencePath = (typeof referencePaths)[number];

/**
 * Returns the names of the files of the API reference by the paths under which they are served. The page is in the folder of this
 * code, Swagger UI beside it or in its package.
 */
export function referenceFiles(): Record<string, string> {
  const own = (name: string) => join(import.meta.dirname, name);
  const isPacked = existsSync(own('swagger-ui.css'));
  const swaggerUi = isPacked ? own('') : dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return {
    '/docs': own('page.html'),
    '/docs/docs.js': own('docs.js'),
    '/docs/docs.css': own('docs.css'),
    '/docs/swagger-ui.css': join(swaggerUi, 'swagger-ui.css'),
    '/docs/swagger-ui-bundle.js': join(swaggerUi, 'swagger-ui-bundle.js'),
    '/docs/favicon.png': join(swaggerUi, 'favicon-32x32.png'),
  } satisfies Record<ReferencePath, string>;
}
