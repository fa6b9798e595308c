import { globSync } from 'node:fs';

const rooms =
  'access,approvals,assets,computations,cvms,deletion,events,evidence,http,keys,links,lists,manifest,runs,table,todo,waits';

/** The domain's core, which is mutated. */
export function coreFiles(root: string): string[] {
  return globSync(`shared/{${rooms}}/**/*.ts`, { cwd: root }).sort();
}

/** The tests of the domain; those of the infrastructure, the local service and the documents take long and say little of it. */
export function coreTests(root: string): string[] {
  const folders = 'shared,functions,e2e,access,contract,lifecycle,concurrency';
  return globSync([`test/{${folders}}/**/*.test.ts`, 'test/round-trips.test.ts'], { cwd: root }).sort();
}
