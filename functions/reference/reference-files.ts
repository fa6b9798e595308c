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

/** Returns the files of the API reference by their paths: those of Swagger UI, and those of this folder. */
export function referenceFiles(): Record<string, string> {
  const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const own = (name: string) => join(import.meta.dirname, name);
  return {
    '/docs': own('page.html'),
    '/docs/docs.js': own('docs.js'),
    '/docs/docs.css': own('docs.css'),
    '/docs/swagger-ui.css': join(swaggerUi, 'swagger-ui.css'),
    '/docs/swagger-ui-bundle.js': join(swaggerUi, 'swagger-ui-bundle.js'),
    '/docs/favicon.png': join(swaggerUi, 'favicon-32x32.png'),
  } satisfies Record<ReferencePath, string>;
}
