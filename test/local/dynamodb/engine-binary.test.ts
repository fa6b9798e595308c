import { accessSync, constants, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { engineBinary } from '../../../local/dynamodb/engine-binary.ts';

const { optionalDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  optionalDependencies: Record<string, string>;
};

describe('engineBinary', () => {
  it('returns a program for this platform', () => {
    expect(() => accessSync(engineBinary(), constants.X_OK)).not.toThrow();
  });

  it.each(['darwin-arm64', 'darwin-x64', 'linux-arm64'])(
    'throws an error with the command that installs it on %s',
    (platform) => {
      const command = `npm install --no-save @dynoxide/${platform}@${optionalDependencies['@dynoxide/linux-x64']}`;
      expect(() => engineBinary(platform)).toThrow(`\n  ${command}\n`);
    },
  );

  it('throws an error that names another engine on a platform without one, as docs/one-machine.md does', () => {
    const commands = ['docker run -d -p 8000:8000 amazon/dynamodb-local', 'DYNAMODB_ENDPOINT=http://localhost:8000 npm start'];
    expect(() => engineBinary('win32-x64')).toThrow(`\n  ${commands.join('\n  ')}\n`);
    const document = readFileSync(new URL('../../../docs/one-machine.md', import.meta.url), 'utf8');
    expect(document).toContain(`\n    ${commands.join('\n    ')}\n`);
  });
});
