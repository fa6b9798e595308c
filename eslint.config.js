import { dirname, join, relative, resolve, sep } from 'node:path';
import { defineConfig, globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const environmentAccess = [
  {
    object: 'process',
    property: 'env',
    message: 'Read the environment in shared/environment.ts and in the programs that eslint.config.js lists only.',
  },
];
const environmentImport = [
  {
    name: 'node:process',
    importNames: ['env'],
    message: 'Read the environment in shared/environment.ts and in the programs that eslint.config.js lists only.',
  },
];

/** Static relative imports that match `regex` are errors. */
const boundary = (regex, message) => ({
  'no-restricted-imports': ['error', { paths: environmentImport, patterns: [{ regex, message }] }],
});

const dynamicImports = {
  selector: 'ImportExpression',
  message: 'Import statically: the import rules and the bundle see it then.',
};
const keyFiles = ['keys', 'index-keys', 'old-list-keys', 'shards', 'keys-of-domain'].map((name) => `shared/table/${name}.ts`);
const keyLiterals = [
  'Property[key.name=/^(pk|sk)$/] > :matches(Literal, TemplateLiteral).value',
  ':matches(Literal[value=/^[a-z][a-z-]*#/], TemplateElement[value.raw=/^([a-z][a-z-]*)?#$/])',
].map((selector) => ({ selector, message: `Key literals of the table are in these files only: ${keyFiles.join(', ')}.` }));

/**
 * The rooms of shared/ in order: a file imports from its own room and from rooms before it, so no rooms import each other.
 * `root` are the files directly in shared/. A new folder must be added here.
 */
const rooms = [
  'root',
  'access',
  'table',
  'waits',
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
  'migrations',
  'http',
  'endpoints',
  'openapi',
  'tasks',
];

/** @param {string} path a file below shared/ */
const roomOf = (path) => {
  const [first, ...rest] = relative(shared, path).split(sep);
  return rest.length === 0 ? 'root' : first;
};
const shared = join(import.meta.dirname, 'shared');

/** What each folder may import besides itself and packages: folders and files. test/ and bench/ may import everything. CONTRIBUTING.md has the same table. */
const mayImport = {
  shared: [],
  functions: ['shared'],
  gateway: ['shared'],
  infra: ['infra/canary', 'infra/command-line', 'shared', 'gateway'],
  'infra/command-line': ['client'],
  'infra/commands': ['infra', 'infra/accept', 'infra/command-line', 'infra/local', 'infra/rehearse', 'shared', 'client'],
  'infra/local': ['infra', 'infra/command-line', 'infra/simulated-cvms', 'shared', 'functions', 'gateway', 'client'],
  'infra/simulated-cvms': ['infra', 'shared', 'client'],
  'infra/accept': ['infra', 'infra/command-line', 'shared', 'client'],
  'infra/canary': ['infra', 'infra/simulated-cvms', 'shared', 'client'],
  'infra/rehearse': ['infra', 'infra/local', 'shared', 'client'],
  client: [],
  'client/build': ['shared'],
  'client/cms': ['client', 'shared', 'verify'],
  demo: ['client', 'infra/command-line', 'infra/local'],
  verify: ['shared'],
  console: ['client/index.ts', 'shared'],
  docs: ['shared', 'infra', 'infra/local', 'console', 'test'],
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
      if (own === undefined || !source || !String(source.value).startsWith('.')) return;
      const imported = resolve(dirname(context.filename), source.value);
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
  return `:matches(ImportDeclaration${from}:has(ImportNamespaceSpecifier), ExportNamedDeclaration${from}, ExportAllDeclaration${from})`;
}

/** Each row has one writer: the type of its key keeps others from writing it, and this keeps them from taking the type off. */
const rowWriters = [
  'shared/table/keys.ts',
  'shared/computations/change-computation.ts',
  'shared/runs/change-run.ts',
  'shared/runs/claim.ts',
  'shared/assets/change-asset.ts',
];
const rowWriting = {
  selector: 'ImportSpecifier[imported.name="keyToWrite"]',
  message: `Only the one writer of each row imports keyToWrite: ${rowWriters.slice(1).join(', ')}.`,
};

/** The removal of a domain deletes everything, and what belongs to it too. */
const domainRemoval = 'shared/deletion/remove-domain.ts';
const deletionOfRows = {
  selector: 'ImportSpecifier[imported.name="deleteScanned"]',
  message: `Only ${domainRemoval} deletes rows without their single writers.`,
};

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
  message: 'Only shared/table/ sends writes to the table: its types know which rows have a single writer.',
}));
const wholeTableModules = {
  selector: wholeModule('(table.|^\\..)(keys|writes)\\.ts$'),
  message: 'Import the names that you need from shared/table/keys.ts and writes.ts, so that lint sees them.',
};
/** An object with a sort key, except a schema. It would be a Key, whatever row it names. */
const rebuiltKeys = {
  selector: 'ObjectExpression > Property[key.name="sk"]:not([value.callee.object.name="v"])',
  message: 'Take keys from shared/table/: one that is put together elsewhere may be of a row with a single writer.',
};
/** They find items by a query or a scan. No row with a single writer is among them. */
const keyRebuilders = ['shared/{lists,migrations}/*.ts', 'shared/assets/content-check.ts', 'shared/deletion/delete-partition.ts'];
/** What no production file may contain that is not one of the writers of rows. */
const writesOfOthers = [rowWriting, deletionOfRows, ...importsOfWrites, wholeTableModules];
/** The same where nothing but shared/table/ may contain parts of keys. */
const writesOfService = [dynamicImports, ...writesOfOthers, ...keyLiterals];

/** @template T @param {T[]} rules @param {T[]} left */
function without(rules, ...left) {
  return rules.filter((rule) => !left.includes(rule));
}

export default defineConfig(
  globalIgnores(['cdk.out/', '**/dist/', 'coverage/', 'client/api-types.ts', 'test/support/versions/*.js']),
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ['tsconfig.json', 'console/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
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
    },
  },
  {
    files: Object.keys(mayImport).map((folder) => `${folder}/**/*.{ts,tsx}`),
    plugins: { folders: { rules: { imports: folderImports } } },
    rules: {
      'folders/imports': ['error', mayImport],
      'no-restricted-imports': ['error', { paths: environmentImport }],
    },
  },
  {
    files: ['shared/**/*.ts'],
    plugins: { rooms: { rules: { order: roomOrder } } },
    rules: {
      'rooms/order': 'error',
      'no-restricted-syntax': ['error', ...writesOfService, rebuiltKeys],
    },
  },
  {
    files: ['functions/**/*.ts'],
    rules: {
      ...boundary('^\\.(?!\\./(\\.\\./)*shared/)', 'functions/ import shared/ and packages only, never each other.'),
      'no-restricted-syntax': ['error', ...writesOfService, rebuiltKeys],
    },
  },
  {
    files: ['gateway/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...writesOfService, rebuiltKeys] },
  },
  {
    files: ['client/**/*.ts'],
    ignores: ['client/build/**', 'client/cms/**'],
    rules: {
      ...boundary('^\\..*/cms/', 'The library in client/ does not import the command line.'),
      'no-restricted-syntax': ['error', dynamicImports],
    },
  },
  {
    files: ['client/*.ts', 'client/{tokens,transfer}/*.ts'],
    rules: boundary('^(node:|\\..*/(cms|node)/)', 'Browsers load this: no modules of Node.'),
  },
  {
    files: ['infra/**/*.ts', 'verify/**/*.ts', 'client/cms/**/*.ts', 'demo/**/*.ts', 'docs/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...writesOfOthers, ...keyLiterals, rebuiltKeys] },
  },
  {
    files: ['infra/bus/journal-filter.ts'], // names keys to filter a stream by
    rules: { 'no-restricted-syntax': ['error', ...writesOfOthers, ...keyLiterals] },
  },
  { files: keyRebuilders, rules: { 'no-restricted-syntax': ['error', ...writesOfService] } },
  {
    files: ['shared/table/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, ...importsOfWrites)] },
  },
  { files: rowWriters, rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, rowWriting), rebuiltKeys] } },
  {
    files: [domainRemoval],
    rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, deletionOfRows), rebuiltKeys] },
  },
  {
    files: ['console/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    rules: boundary(
      '^\\..*/shared/(?!(access/(roles|membership)|holds-private-key)\\.ts$)',
      'console/ imports only the roles of shared/access/, and what a private key looks like.',
    ),
  },
  { files: keyFiles, rules: { 'no-restricted-syntax': ['error', ...without(writesOfService, ...keyLiterals)] } },
  {
    files: [
      'shared/environment.ts',
      'infra/gateway/start-bundle.ts',
      'client/cms/process-terminal.ts',
      'vitest.config.ts',
      'infra/{command-line,commands,local,rehearse}/**/*.ts',
      'test/**/*.ts',
      'bench/**/*.ts',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  { files: ['infra/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off', // expect.any() and the like
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
