import { dirname, join, relative, resolve, sep } from 'node:path';
import { defineConfig, globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const environmentAccess = [
  {
    object: 'process',
    property: 'env',
    message: 'Read the environment in shared/runtime/environment.ts and in the programs that eslint.config.js lists only.',
  },
];
const environmentImport = [
  {
    name: 'node:process',
    importNames: ['env'],
    message: 'Read the environment in shared/runtime/environment.ts and in the programs that eslint.config.js lists only.',
  },
];

/** Static relative imports that match `regex` are errors. */
const boundary = (regex, message) => ({
  'no-restricted-imports': ['error', { paths: environmentImport, patterns: [{ regex, message }] }],
});

const bundledSpreads = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write these properties out: the spread of an object literal only saves lines.',
};
const dynamicImports = {
  selector: 'ImportExpression',
  message: 'Import statically: the import rules and the bundle see it then.',
};
const keyFiles = ['keys', 'index-keys', 'keys-of-domain'].map((name) => `shared/table/${name}.ts`);
const keyLiterals = [
  'Property[key.name=/^(pk|sk)$/] > :matches(Literal, TemplateLiteral).value',
  ':matches(Literal[value=/^[a-z][a-z-]*#/], TemplateElement[value.raw=/^([a-z][a-z-]*)?#$/])',
].map((selector) => ({ selector, message: `Key literals of the table are in these files only: ${keyFiles.join(', ')}.` }));

/**
 * The rooms of shared/ in order: a file imports from its own room and from rooms before it, so no rooms import each other.
 * A new folder must be added here.
 */
const rooms = [
  'runtime',
  'command-line',
  'access',
  'table',
  'waits',
  'http',
  'lists',
  'events',
  'computations',
  'keys',
  'assets',
  'links',
  'manifest',
  'approvals',
  'todo',
  'runs',
  'evidence',
  'cvms',
  'deletion',
  'domains',
  'endpoints',
  'openapi',
  'tasks',
];

/** @param {string} path a file below shared/ */
const roomOf = (path) => relative(shared, path).split(sep)[0];
const shared = join(import.meta.dirname, 'shared');

/** What each folder may import besides itself and packages: folders and files. test/ may import everything. CONTRIBUTING.md has the same table. */
const mayImport = {
  shared: ['packages/client', 'packages/formats'],
  functions: ['shared', 'packages/client', 'packages/formats', 'packages/simulated-cvm', 'infra/canary'],
  gateway: ['shared', 'packages/formats'],
  infra: ['shared', 'gateway', 'functions', 'packages/formats'],
  'infra/canary': ['infra'],
  local: ['shared', 'functions', 'gateway', 'packages/client', 'packages/formats', 'packages/simulated-cvm'],
  tools: ['shared', 'local', 'infra', 'gateway', 'packages/client', 'packages/formats'],
  'tools/bench': [
    'functions',
    'shared',
    'local',
    'infra',
    'gateway',
    'packages/client',
    'packages/formats',
    'packages/simulated-cvm',
    'test',
  ],
  'tools/demo': ['packages/client', 'packages/formats', 'shared/command-line', 'local'],
  'tools/docs': ['shared', 'infra', 'local', 'packages/console', 'test'],
  'packages/client': [],
  'packages/formats': [],
  'packages/cms': ['packages/client', 'packages/formats', 'packages/verify'],
  'packages/verify': ['packages/formats'],
  'packages/simulated-cvm': ['packages/client'],
  'packages/console': ['packages/client', 'packages/formats'],
};

const folderImports = {
  meta: { schema: [{ type: 'object' }] },
  create: (context) => {
    const [table] = context.options;
    const isIn = (path, place) => `${path}${sep}`.startsWith(join(import.meta.dirname, place) + sep);
    const rowOf = (path) =>
      Object.keys(table)
        .filter((folder) => isIn(path, folder))
        .sort((one, other) => other.length - one.length)[0];
    const own = rowOf(context.filename);
    const check = ({ source }) => {
      if (own === undefined || !source) return;
      const [, name] = /^computation-management-([a-z-]+)/.exec(String(source.value)) ?? [];
      if (name === undefined && !String(source.value).startsWith('.')) return;
      const imported = name ? join(import.meta.dirname, 'packages', name) : resolve(dirname(context.filename), source.value);
      const reached = rowOf(imported);
      if (!name && reached !== own && reached?.startsWith('packages/') && !own.startsWith(`${reached}/`)) {
        context.report({ node: source, message: 'Import a package by its name, and not its files.' });
        return;
      }
      const allowed = [own, ...table[own]];
      // A folder with a row of its own is not part of the one around it.
      const isAllowed = (place) => (place in table ? place === rowOf(imported) : isIn(imported, place));
      if (allowed.some(isAllowed)) return;
      context.report({ node: source, message: `${own}/ may import itself and these: ${table[own].join(', ') || 'packages'}.` });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

const roomOrder = {
  create: (context) => {
    const place = rooms.indexOf(roomOf(context.filename));
    const check = ({ source }) => {
      if (!source || !String(source.value).startsWith('.')) return;
      if (String(source.value).includes('../packages/')) return;
      const imported = roomOf(resolve(dirname(context.filename), source.value));
      const importedPlace = rooms.indexOf(imported);
      if (place < 0 || importedPlace < 0 || importedPlace > place) {
        const message = `${roomOf(context.filename)} may not import ${imported}: see the order of rooms in eslint.config.js.`;
        context.report({ node: source, message });
      }
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, TSImportType: check };
  },
};

/** Selects imports and exports of whole modules whose name matches `regex`. */
function wholeModule(regex) {
  const from = `[source.value=/${regex}/]`;
  const wholeImport = `ImportDeclaration${from}:has(ImportNamespaceSpecifier, ImportDefaultSpecifier, [imported.name="default"])`;
  return `:matches(${wholeImport}, ExportNamedDeclaration${from}, ExportAllDeclaration${from}, ImportExpression${from})`;
}

/** Each row has one writer: the type of its key keeps others from writing it, and this keeps them from taking the type off. */
const rowWriters = [
  'shared/computations/change-computation.ts',
  'shared/runs/change-run.ts',
  'shared/runs/claim.ts',
  'shared/assets/change-asset.ts',
];
const rowWriting = {
  selector: 'ImportSpecifier[imported.name="keyToWrite"]',
  message: `Only the one writer of each row imports keyToWrite: ${rowWriters.join(', ')}.`,
};

/** The removal of a domain deletes everything, and what belongs to it too. */
const domainRemoval = 'shared/deletion/remove-domain.ts';
const deletionOfRows = {
  selector: 'ImportSpecifier[imported.name="deleteScanned"]',
  message: `Only ${domainRemoval} deletes rows without their single writers.`,
};

const tableWriters = ['shared/table/transaction.ts', 'shared/table/writes.ts'];
const sdkWrites = [
  '(Put|Update|Delete|BatchWrite|TransactWrite)(Item|Items)?Command',
  '(Batch)?Execute(Statement|Transaction)Command', // PartiQL
  'DynamoDB(Document)?', // have all of these as methods
];
const importsOfWrites = [
  `ImportSpecifier[imported.name=/^(${sdkWrites.join('|')})$/]`,
  wholeModule('(client|lib)-dynamodb$'),
].map((selector) => ({
  selector,
  message: `Only these files send writes to the table: ${tableWriters.join(', ')}. Their types know which rows have a single writer.`,
}));
const wholeTableModules = {
  selector: wholeModule('(table.|^\\..)(keys|writes)\\.ts$'),
  message: 'Import the names that you need from shared/table/keys.ts and writes.ts, so that lint sees them.',
};
/** Two ways to a Key of any row that the type allows: a cast, and other values in place of those of a Key. */
const forgedKeys = [
  'TSAsExpression TSTypeReference[typeName.name="Key"]',
  'ObjectExpression > SpreadElement ~ Property:matches([key.name=/^(pk|sk)$/], [key.value=/^(pk|sk)$/])',
].map((selector) => ({
  selector,
  message: 'Make keys with shared/table/keys.ts: it refuses those of rows with a single writer.',
}));
/** What no production file may contain that is not one of the writers of rows. */
const writesOfOthers = [rowWriting, deletionOfRows, ...importsOfWrites, wholeTableModules, ...forgedKeys, bundledSpreads];
/** The same where nothing but shared/table/ may contain parts of keys. */
const writesOfService = [dynamicImports, ...writesOfOthers, ...keyLiterals];

/** @template T @param {T[]} rules @param {T[]} left */
function without(rules, ...left) {
  return rules.filter((rule) => !left.includes(rule));
}

export default defineConfig(
  globalIgnores(['cdk.out/', '**/dist/', 'coverage/', 'packages/client/generated/api-types.ts']),
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ['tsconfig.json', 'packages/console/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'no-restricted-properties': ['error', ...environmentAccess],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unnecessary-type-arguments': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', bundledSpreads],
    },
  },
  {
    files: Object.keys(mayImport).map((folder) => `${folder}/**/*.{ts,tsx}`),
    plugins: { folders: { rules: { imports: folderImports } } },
    linterOptions: { noInlineConfig: true },
    rules: {
      'folders/imports': ['error', mayImport],
      'max-params': ['error', 5],
      'no-restricted-imports': ['error', { paths: environmentImport }],
    },
  },
  {
    files: ['shared/**/*.ts'],
    plugins: { rooms: { rules: { order: roomOrder } } },
    rules: {
      'rooms/order': 'error',
      'no-restricted-syntax': ['error', ...writesOfService],
    },
  },
  {
    files: ['functions/**/*.ts'],
    ignores: ['functions/{operations,reference}/**'],
    rules: {
      ...boundary('^\\.(?!\\./(\\.\\./)*shared/)', 'functions/ import shared/ and packages only, never each other.'),
      'no-restricted-syntax': ['error', ...writesOfService],
    },
  },
  {
    files: ['gateway/**/*.ts'],
    ignores: ['gateway/start-bundle.ts'], // imports the bundle
    rules: { 'no-restricted-syntax': ['error', ...writesOfService] },
  },
  {
    files: ['packages/client/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', dynamicImports, bundledSpreads] },
  },
  {
    files: ['packages/client/index.ts', 'packages/client/{calls,generated,tokens,transfer}/*.ts'],
    rules: boundary('^(node:|\\..*/node/)', 'Browsers load this: no modules of Node.'),
  },
  {
    files: [
      'infra/**/*.ts',
      'packages/verify/**/*.ts',
      'local/**/*.ts',
      'tools/**/*.ts',
      'packages/{cms,formats,simulated-cvm}/**/*.ts',
    ],
    ignores: ['tools/bench/**'],
    rules: { 'no-restricted-syntax': ['error', ...writesOfOthers, ...keyLiterals] },
  },
  { files: tableWriters, rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, ...importsOfWrites)] } },
  { files: rowWriters, rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, rowWriting)] } },
  { files: [domainRemoval], rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, deletionOfRows)] } },
  {
    files: ['packages/console/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
  },
  { files: keyFiles, rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, ...keyLiterals, ...forgedKeys)] } },
  {
    files: [
      'shared/runtime/environment.ts',
      'gateway/start-bundle.ts',
      'packages/cms/terminal/terminal.ts',
      'vitest.config.ts',
      '{local,tools}/**/*.ts',
      'shared/command-line/*.ts',
      'test/**/*.ts',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  { files: ['infra/**/*.ts', 'local/**/*.ts', 'tools/**/*.ts', 'test/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**/*.ts', 'tools/bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off', // expect.any() and the like
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
