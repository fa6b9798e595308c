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
const keyFiles = ['keys', 'index-keys', 'old-list-keys', 'shards'].map((name) => `shared/table/${name}.ts`);
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

const importsOfWrites = {
  selector: ':matches(ImportSpecifier[imported.name=/^(Put|Update|Delete|BatchWrite|TransactWrite)(Item|Items)?Command$/])',
  message: 'Only shared/table/ sends writes to the table: its types know which rows have a single writer.',
};
const wholeKeysModule = {
  selector:
    ':matches(ImportDeclaration[source.value=/table.keys.ts$/]:has(ImportNamespaceSpecifier), ExportNamedDeclaration[source.value=/table.keys.ts$/], ExportAllDeclaration[source.value=/table.keys.ts$/])',
  message: 'Import the names that you need from shared/table/keys.ts, so that lint sees them.',
};
/** What no production file may contain that is not one of the writers of rows. */
const writesOfOthers = [rowWriting, importsOfWrites, wholeKeysModule];

export default defineConfig(
  globalIgnores(['cdk.out/', '**/dist/', 'coverage/', 'client/api-types.ts', 'test/support/versions/*.js']),
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
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
    files: ['shared/**/*.ts'],
    plugins: { rooms: { rules: { order: roomOrder } } },
    rules: {
      'rooms/order': 'error',
      ...boundary('^\\..*/(functions|gateway|infra|test|bench|verify)/', 'shared/ imports only shared/ and packages.'),
      'no-restricted-syntax': ['error', dynamicImports, ...writesOfOthers, ...keyLiterals],
    },
  },
  {
    files: ['functions/**/*.ts'],
    rules: {
      ...boundary('^\\.(?!\\./(\\.\\./)*shared/)', 'functions/ import shared/ and packages only, never each other.'),
      'no-restricted-syntax': ['error', dynamicImports, ...writesOfOthers, ...keyLiterals],
    },
  },
  {
    files: ['gateway/**/*.ts'],
    rules: {
      ...boundary('^\\..*/(functions|infra|test|bench)/', 'gateway/ imports only gateway/, shared/ and packages.'),
      'no-restricted-syntax': ['error', dynamicImports, ...writesOfOthers, ...keyLiterals],
    },
  },
  {
    files: ['client/**/*.ts'],
    ignores: ['client/build/**', 'client/cms/**'],
    rules: {
      ...boundary(
        '^\\..*/(shared|functions|gateway|infra|test|bench|cms)/',
        'The library in client/ imports only itself and packages.',
      ),
      'no-restricted-syntax': ['error', dynamicImports],
    },
  },
  {
    files: ['client/*.ts', 'client/tokens/*.ts'],
    rules: boundary(
      '^(node:|\\..*/(shared|functions|gateway|infra|test|bench|cms|node)/)',
      'Browsers load this: no modules of Node.',
    ),
  },
  {
    files: ['verify/**/*.ts'],
    rules: boundary('^\\..*/(functions|infra|test|bench)/', 'verify/ imports only verify/, shared/ and packages.'),
  },
  {
    files: ['infra/**/*.ts'],
    rules: boundary('^\\..*/(functions|test|bench)/', 'infra/ imports only infra/, shared/ and packages.'),
  },
  {
    files: ['infra/local/**/*.ts'],
    rules: boundary('^\\..*/(test|bench)/', 'infra/local/ imports only infra/, functions/, gateway/, shared/ and packages.'),
  },
  { files: ['infra/**/*.ts', 'verify/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...writesOfOthers] } },
  { files: ['shared/table/*.ts'], rules: { 'no-restricted-syntax': ['error', dynamicImports, rowWriting, ...keyLiterals] } },
  {
    files: rowWriters,
    rules: { 'no-restricted-syntax': ['error', dynamicImports, importsOfWrites, ...keyLiterals] },
  },
  {
    files: ['console/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    rules: boundary(
      '^\\..*/(functions|gateway|infra|test|bench|verify)/|^\\..*/shared/(?!access/(roles|membership)\\.ts$)',
      'console/ imports console/, client/, the roles of shared/access/ and packages.',
    ),
  },
  { files: keyFiles, rules: { 'no-restricted-syntax': ['error', dynamicImports, ...writesOfOthers] } },
  {
    files: [
      'shared/environment.ts',
      'infra/gateway/start-bundle.ts',
      'client/cms/process-terminal.ts',
      'vitest.config.ts',
      'infra/{local,rehearse}/**/*.ts',
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
