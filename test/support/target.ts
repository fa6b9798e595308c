import { roles, type Role } from '../../shared/access/roles.ts';
import { loadBundled } from './bundled-functions.ts';

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
  stop: () => Promise<void>;
}

/** Tokens by person, as JSON, from `npm run test:deployed`. */
const givenTokens = JSON.parse(process.env['TARGET_TOKENS'] ?? '{}') as Partial<Record<Person, string>>;
const deployedUrl = process.env['TARGET_URL'];

export const isDeployed = deployedUrl !== undefined;

/** Whether the target can be called as this person. On one machine, every person is known. */
export function isKnown(person: Person): boolean {
  return !isDeployed || givenTokens[person] !== undefined;
}

export async function openTarget(): Promise<Target> {
  return deployedUrl === undefined ? await startTarget() : deployedTarget(deployedUrl);
}

function deployedTarget(baseUrl: string): Target {
  const tokenOf = (person: Person) => {
    const token = givenTokens[person];
    if (token === undefined) throw new TypeError(`There is no token for ${person}.`);
    return token;
  };
  const target = { baseUrl, tokenOf, idOf: (person: Person) => subjectOf(tokenOf(person)), stop: () => Promise.resolve() };
  return { ...target, domain: process.env['TARGET_DOMAIN'] ?? '', otherDomain: process.env['TARGET_OTHER_DOMAIN'] ?? '' };
}

async function startTarget(): Promise<Target> {
  const { startStack } = await import('../../infra/local/stack.ts');
  const [domain, otherDomain] = ['d1', 'd2'];
  const bundles = process.env['TARGET_BUNDLES'];
  const stack = await startStack({ port: 0, simulator: false, ...(bundles ? { load: loadBundled(bundles) } : {}) });
  const idOf = (person: Person) => `user-${person}`;
  const tokens = new Map<Person, string>();
  for (const role of Object.keys(roles) as Role[]) tokens.set(role, await stack.token(idOf(role), [`${domain}:${role}`]));
  tokens.set(
    'outsider',
    await stack.token(
      idOf('outsider'),
      Object.keys(roles).map((role) => `${otherDomain}:${role}`),
    ),
  );
  return {
    baseUrl: stack.baseUrl,
    domain,
    otherDomain,
    stop: stack.stop,
    tokenOf: (person) => tokens.get(person) ?? '',
    idOf,
  };
}

/** Decodes the claims of a token without verifying it. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

function subjectOf(token: string): string {
  return String(claimsOf(token)['sub']);
}
