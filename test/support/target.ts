import { AsyncLocalStorage } from 'node:async_hooks';
import { type Role, roles } from 'computation-management-formats/vocabulary';
import type { Stack } from '../../local/stack.ts';
import { SuiteState } from './suite-state.ts';

/** A person of the end-to-end suite: a member with one role, or a member of another domain with every role there. */
export type Person = Role | 'outsider';

/** The service under test, used only over HTTP: started on this machine, or deployed. */
export interface Target {
  baseUrl: string;
  /** The domain that the suite uses. */
  domain: string;
  /** The domain of the outsider. */
  otherDomain: string;
  tokenOf: (person: Person) => string;
  /** Returns the person's user identifier in the service. */
  idOf: (person: Person) => string;
}

/** Tokens by person, as JSON, from `npm run test:deployed`. */
const givenTokens = JSON.parse(process.env['TARGET_TOKENS'] ?? '{}') as Partial<Record<Person, string>>;
const deployedUrl = process.env['TARGET_URL'];

export const isDeployed = deployedUrl !== undefined;

/** Says whether the target can be called as this person. On one machine, every person is known. */
export function isKnown(person: Person): boolean {
  return !isDeployed || givenTokens[person] !== undefined;
}

/** Opens the target. Its tokens of other persons than the administrator and the CVM are only for code within `actAs`. */
export async function openTarget(): Promise<Target> {
  const { tokenOf, idOf, ...target } = deployedUrl === undefined ? await startTarget() : deployedTarget(deployedUrl);
  return { ...target, tokenOf: forActors(tokenOf), idOf: forActors(idOf) };
}

const actors = new AsyncLocalStorage<readonly Person[]>();

/** Runs code that acts as these persons, besides the administrator and the CVM. `itAs` does so for a test. */
export function actAs<T>(persons: readonly Person[], work: () => T): T {
  return actors.run(persons, work);
}

/**
 * Refuses a person as whom the calling code does not say that it acts, on every target. Otherwise a test that is not skipped where
 * that person has no token would fail only there: the delivery has one token, of an administrator who is also a CVM.
 */
function forActors(of: (person: Person) => string): (person: Person) => string {
  return (person) => {
    if (['administrator', 'cvm', ...(actors.getStore() ?? [])].includes(person)) return of(person);
    throw new TypeError(`A test that acts as ${person} says so: use itAs or beforeAllAs.`);
  };
}

function deployedTarget(baseUrl: string): Target {
  const tokenOf = (person: Person) => {
    const token = givenTokens[person];
    if (token === undefined) throw new TypeError(`There is no token for ${person}.`);
    return token;
  };
  const domain = process.env['TARGET_DOMAIN'] ?? '';
  const otherDomain = process.env['TARGET_OTHER_DOMAIN'] ?? '';
  return { baseUrl, domain, otherDomain, tokenOf, idOf: (person: Person) => subjectOf(tokenOf(person)) };
}

/** Serves every file of this process, each in domains of its own. Its engine ends with the process. */
let service: Promise<Stack> | undefined;
let opened = 0;

async function startTarget(): Promise<Target> {
  service ??= startService();
  const stack = await service;
  const domain = `e2e-${++opened}`;
  const otherDomain = `${domain}-other`;
  const idOf = (person: Person) => `user-${person}`;
  const everyRole = Object.keys(roles) as Role[];
  const tokens = new Map<Person, string>();
  for (const role of everyRole) tokens.set(role, await stack.token(idOf(role), [`${domain}:${role}`]));
  const memberships = everyRole.map((role) => `${otherDomain}:${role}`);
  tokens.set('outsider', await stack.token(idOf('outsider'), memberships));
  return { baseUrl: stack.baseUrl, domain, otherDomain, tokenOf: (person) => tokens.get(person) ?? '', idOf };
}

/** Time limits by which no run ends by itself, however busy the machine is. */
const times = { acceptInSeconds: 3_600, silenceInSeconds: 3_600, runInSeconds: 3_600, stopInSeconds: 3_600 };

/** Undefined if the service keeps its state in memory, or is deployed. */
export const suiteState = process.env['TARGET_STATE'] === undefined ? undefined : new SuiteState(process.env['TARGET_STATE']);

async function startService(): Promise<Stack> {
  const { startStack } = await import('../../local/stack.ts');
  const bundles = process.env['TARGET_BUNDLES'];
  return await startStack({
    port: 0,
    simulator: false,
    times,
    ...(bundles ? (await import('./bundled-functions.ts')).bundledFunctions(bundles) : {}),
    ...(suiteState ? { dataDirectory: suiteState.openService(), logLevel: 'DEBUG' } : {}),
  });
}

/** Decodes the claims of a token without verifying it. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

function subjectOf(token: string): string {
  return String(claimsOf(token)['sub']);
}
