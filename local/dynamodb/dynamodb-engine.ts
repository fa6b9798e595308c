import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import description from '../../package.json' with { type: 'json' };

/** A process of the embedded DynamoDB engine, which may not answer yet. */
export interface DynamoDbEngine {
  /** Resolves when the engine's process listens on its port. An answer from the port alone may be that of another process. */
  listening: Promise<undefined>;
  /**
   * Resolves when the engine's process has ended or could not be started, with the reason: the end of its error output, or its
   * exit code.
   */
  ended: Promise<string>;
  stop: () => Promise<void>;
}

const keptErrorOutputInCharacters = 500;

/**
 * Spawns a process of the embedded DynamoDB engine, with its state in `file`, or in memory if that is undefined. @throws Error
 * with instructions if there is no engine for this platform
 */
export function spawnDynamoDbEngine(port: number, file: string | undefined): DynamoDbEngine {
  const engine = spawn(
    'sh',
    ['-c', whileParentLives, engineBinary(), '--port', String(port), ...(file === undefined ? [] : ['--db-path', file])],
    {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true, // keeps Ctrl-C from the engine: the service stops it after its own shutdown
    },
  );
  let errorOutput = '';
  const listening = Promise.withResolvers<undefined>();
  engine.stderr.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-keptErrorOutputInCharacters);
    if (!errorOutput.includes(`listening on http://127.0.0.1:${port}`)) return;
    errorOutput = ''; // no reason for an end
    listening.resolve(undefined);
  });
  engine.stdin.on('error', () => undefined); // the engine has already ended
  const ended = new Promise<string>((resolve) => {
    engine.once('error', ({ message }) => resolve(`it needs the shell sh, which cannot be run (${message})`));
    engine.once('close', (code) => resolve(errorOutput.trim() || `exit code ${code ?? 'unknown'}`));
  });
  return {
    listening: listening.promise,
    ended,
    stop: async () => {
      engine.stdin.end();
      await ended;
    },
  };
}

/**
 * A shell script that runs a program until the script's standard input closes, so that the program never outlives its parent,
 * however the parent ends.
 */
const whileParentLives = `
umask 077
exec 3<&0
"$0" "$@" 3<&- < /dev/null & program=$!
(read -r _ <&3; kill "$program") 2> /dev/null & reader=$!
wait "$program"
code=$?
kill "$reader" 2> /dev/null
exit "$code"`;

/**
 * The platforms for which the embedded DynamoDB engine is published. npm installs the engine for Linux x64 by itself; the other
 * platforms take one more command.
 */
const published = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * Returns the path of the embedded DynamoDB engine for a platform.
 * @throws Error with the command to type if the engine is not installed
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
  const version = description.optionalDependencies['@dynoxide/linux-x64'];
  return `The embedded DynamoDB engine for ${platform} is not installed. Install it, then start again:\n\n  npm install --no-save ${name}@${version}\n`;
}

function notPublished(platform: string): string {
  return (
    `There is no embedded DynamoDB engine for ${platform}. Start another one, then start again:\n\n` +
    '  docker run -d -p 8000:8000 amazon/dynamodb-local\n  DYNAMODB_ENDPOINT=http://localhost:8000 npm start\n'
  );
}
