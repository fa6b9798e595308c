import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The platforms for which the engine is published. npm installs that of Linux x64, the others take one more command. */
const published = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * Returns the path of the embedded DynamoDB engine.
 * @throws Error with the command to type if it is not installed
 */
export function engineBinary(platform = `${process.platform}-${process.arch}`): string {
  const name = `@dynoxide/${platform}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide');
  } catch {
    throw new Error(published.includes(platform) ? notInstalled(platform, name) : notPublished(platform));
  }
}

function notInstalled(platform: string, name: string): string {
  return `The embedded DynamoDB engine for ${platform} is not installed. Install it, then start again:\n\n  npm install --no-save ${name}@${version()}\n`;
}

function notPublished(platform: string): string {
  return (
    `There is no embedded DynamoDB engine for ${platform}. Start another one, then start again:\n\n` +
    '  docker run -d -p 8000:8000 amazon/dynamodb-local\n  DYNAMODB_ENDPOINT=http://localhost:8000 npm start\n'
  );
}

/** The version that package.json has for Linux x64. */
function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  const { optionalDependencies } = JSON.parse(readFileSync(file, 'utf8')) as { optionalDependencies: Record<string, string> };
  return optionalDependencies['@dynoxide/linux-x64'] ?? 'latest';
}
