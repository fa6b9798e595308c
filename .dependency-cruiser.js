import { readdirSync, readFileSync } from 'node:fs';

/**
 * Which folder may import which. `npm run lint` checks it, types included. Besides these rules, neither files nor folders may import each
 * other in a circle.
 */
const packages = Object.fromEntries(
  readdirSync(new URL('packages/', import.meta.url)).map((name) => [`packages/${name}`, entriesOf(name)]),
);

/** What each folder may import besides itself and npm packages. Of packages/, only the entries that their package.json exports. */
const mayImport = {
  shared: [
    'packages/attestation',
    'packages/counted-list',
    'packages/formats',
    'packages/key-release',
    'packages/transparency-log',
  ],
  'shared/command-line': ['packages/client', 'packages/formats', 'shared'],
  functions: ['shared', 'packages/formats'],
  'functions/operations': ['functions/operations', 'shared', 'packages/client', 'packages/simulated-cvm'],
  gateway: ['shared', 'packages/formats'],
  infra: ['functions', 'gateway', 'shared', 'packages/counted-list', 'packages/formats', 'packages/transparency-log'],
  local: [
    'packages/attestation',
    'functions',
    'gateway',
    'shared',
    'packages/client',
    'packages/console',
    'packages/counted-list',
    'packages/formats',
    'packages/simulated-cvm',
    'packages/transparency-log',
  ],
  tools: ['functions', 'gateway', 'infra', 'local', 'shared', 'test', ...Object.keys(packages)],
  'packages/attestation': ['packages/formats'],
  'packages/client': ['packages/formats'],
  'packages/cms': [
    'packages/attestation',
    'packages/client',
    'packages/formats',
    'packages/key-release',
    'packages/transparency-log',
    'packages/verify',
    'packages/words',
  ],
  'packages/console': [
    'packages/attestation',
    'packages/client',
    'packages/formats',
    'packages/transparency-log',
    'packages/verify',
    'packages/words',
  ],
  'packages/counted-list': [],
  'packages/formats': [],
  'packages/key-release': ['packages/formats'],
  'packages/simulated-cvm': ['packages/client', 'packages/formats'],
  'packages/stage': ['infra'],
  'packages/transparency-log': ['packages/formats'],
  'packages/verify': ['packages/attestation', 'packages/formats', 'packages/transparency-log'],
  'packages/words': ['packages/client', 'packages/formats'],
};

/** The lower floor of shared/ holds what stands in the table. */
const lowerFloor = ['table', 'journal', 'rows'];
/** Rooms of shared/ without operations, which every other one may use. */
const supports = ['command-line', 'endpoints', 'http', 'openapi', 'runtime', 'tasks'];
/** The upper floor of shared/ holds the operations, by the noun of the endpoint or task. */
const nouns = readdirSync(new URL('shared/', import.meta.url)).filter((name) => ![...lowerFloor, ...supports].includes(name));

const doors = nouns.map((noun) => ({
  name: `door-of-${noun}`,
  comment: `Only functions/${noun}/ and shared/endpoints/${noun}.ts, which are the front of these operations, go past shared/${noun}/index.ts.`,
  severity: 'error',
  from: {
    path: own(),
    pathNot: `^(shared/${noun}/|functions/${noun}/|shared/endpoints/${noun}\\.ts$|test/${noun === 'domains' ? '|local/|tools/' : ''})`,
  },
  to: { path: `^shared/${noun}/`, pathNot: '/index\\.ts$' },
}));

/** Returns the files that a package exports. */
function entriesOf(name) {
  try {
    const { exports = {} } = JSON.parse(readFileSync(new URL(`packages/${name}/package.json`, import.meta.url), 'utf8'));
    return Object.values(exports).map((file) => `packages/${name}/${file.replace('./', '')}`);
  } catch {
    return [];
  }
}

function own() {
  return '^(functions|gateway|infra|local|packages|shared|test|tools)/';
}
const literal = (path) => path.replaceAll('.', '\\.');
const inside = (folder) => (packages[folder] ? packages[folder].map(literal).join('|') : `${folder}/`);

/** Folders with a row of their own are not part of the one around them. */
const within = (folder) => Object.keys(mayImport).filter((other) => other.startsWith(`${folder}/`));

const boundaries = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `imports-of-${folder.replace('/', '-')}`,
  comment: `${folder}/ may import itself and these: ${allowed.join(', ') || 'npm packages'}. Import a package by its name.`,
  severity: 'error',
  from: {
    path: `^${folder}/`,
    pathNot:
      within(folder)
        .map((other) => `^${other}/`)
        .join('|') || '^$',
  },
  to: { path: own(), pathNot: `^(${[`${folder}/`, ...allowed.map(inside)].filter(Boolean).join('|')})` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circle-of-files', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-circle-of-folders', severity: 'error', scope: 'folder', from: { pathNot: '^test' }, to: { circular: true } },
    ...boundaries,
    ...doors,
    {
      name: 'rows-below-operations',
      comment: 'What stands in the table knows neither the operations that use it nor HTTP.',
      severity: 'error',
      from: { path: `^shared/(${lowerFloor.join('|')})/` },
      to: { path: `^shared/(${[...nouns, 'endpoints', 'http', 'openapi', 'tasks'].join('|')})/` },
    },
    {
      name: 'verification-apart',
      comment:
        'One module verifies evidence: for the task that verifies tokens, and for starts and dry runs, which judge them again.',
      severity: 'error',
      from: { path: '^(functions|gateway|shared)/', pathNot: '^shared/attestation/verify-tokens.ts$' },
      to: { path: '^packages/attestation/index.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'functions-apart',
      comment: 'A function imports no other one.',
      severity: 'error',
      from: { path: '^functions/', pathNot: '^functions/(operations|reference)/' },
      to: { path: '^functions/' },
    },
    {
      name: 'loads-in-browsers',
      comment: 'Browsers load this: no modules of Node.',
      severity: 'error',
      from: {
        path: '^packages/(attestation|client|console|formats|transparency-log|verify|words)/',
        pathNot:
          '^packages/(client/node/|formats/(certificates|primitives)\\.ts|verify/verify\\.ts)|(vite\\.config|console/licenses)\\.ts$',
      },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
};
