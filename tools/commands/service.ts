#!/usr/bin/env node

/**
 * The program of the package `computation-management-service`. It starts the service on this machine, or runs the command that
 * its first argument names. `tools/pack.ts` compiles the program.
 */
const platform = `${process.platform}-${process.arch}`;
const [name, ...rest] = process.argv.slice(2);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 12)) lacks(`Node 20.12 or newer, and this is Node ${process.versions.node}`);
addWhatNode20Lacks();
const { runCommand } = await import('../../shared/command-line/arguments.ts');
const commands = new Map([
  ['token', () => import('./token.ts').then(({ usage, tokenCommand }) => runCommand(usage, tokenCommand, rest))],
  ['cvm', () => import('./cvm.ts').then(({ usage, cvmCommand }) => runCommand(usage, cvmCommand, rest))],
  ['domain', () => import('./domain.ts').then(({ usage, domainCommand }) => runCommand(usage, domainCommand, rest))],
]);
await (commands.get(name ?? '') ?? start)();

async function start(): Promise<void> {
  if (platform !== 'linux-x64' && !process.env['DYNAMODB_ENDPOINT']) {
    lacks(
      `the DynamoDB engine, which it has for Linux x64 only, and this is ${platform}: set DYNAMODB_ENDPOINT to another engine`,
    );
  }
  const { startCommand, usage } = await import('../../local/start.ts');
  await runCommand(usage, startCommand);
}

function lacks(what: string): never {
  process.stderr.write(`computation-management-service needs ${what}.\n`);
  process.exit(2);
}

/**
 * Adds the functions of later versions of Node that the sources use, and turns off the warning of the SDK of AWS about old
 * versions.
 */
function addWhatNode20Lacks(): void {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  addTo(Promise, 'withResolvers', <T>() => {
    const made: Partial<PromiseWithResolvers<T>> = {};
    const promise = new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject }));
    return Object.assign(made, { promise }) as PromiseWithResolvers<T>;
  });
  addTo(Map, 'groupBy', <K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K) => {
    const groups = new Map<K, T[]>();
    for (const [index, item] of [...items].entries()) {
      const key = keyOf(item, index);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(item);
    }
    return groups;
  });
  addTo(URL, 'parse', (text: string, base?: string) => (URL.canParse(text, base) ? new URL(text, base) : null));
}

function addTo<Class extends object, Name extends keyof Class & string>(of: Class, name: Name, method: Class[Name]): void {
  if (!(name in of)) Object.defineProperty(of, name, { value: method, configurable: true, writable: true });
}
