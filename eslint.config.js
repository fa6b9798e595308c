import { defineConfig, globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const ofEnvironment =
  'Read the environment in shared/runtime/environment.ts and in the programs that eslint.config.js lists only.';
const environmentAccess = [{ object: 'process', property: 'env', message: ofEnvironment }];
const environmentImport = [{ name: 'node:process', importNames: ['env'], message: ofEnvironment }];

const bundledSpreads = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write these properties out: the spread of an object literal only saves lines.',
};
const dynamicImports = {
  selector: 'ImportExpression',
  message: 'Import statically: the import rules and the bundle see it then.',
};
const keyFiles = ['shared/table/keys.ts', 'packages/counted-list/keys.ts'];
const keyLiterals = [
  'Property[key.name=/^(pk|sk)$/] > :matches(Literal, TemplateLiteral).value',
  ':matches(Literal[value=/^[a-z][a-z-]*#/], TemplateElement[value.raw=/^([a-z][a-z-]*)?#$/])',
].map((selector) => ({ selector, message: `Key literals of the table are in these files only: ${keyFiles.join(', ')}.` }));

/** Selects imports and exports of whole modules whose name matches `regex`. */
function wholeModule(regex) {
  const from = `[source.value=/${regex}/]`;
  const wholeImport = `ImportDeclaration${from}:has(ImportNamespaceSpecifier, ImportDefaultSpecifier, [imported.name="default"])`;
  return `:matches(${wholeImport}, ExportNamedDeclaration${from}, ExportAllDeclaration${from}, ImportExpression${from})`;
}

const tableWriters = ['shared/table/transaction.ts', 'shared/table/writes.ts', 'packages/counted-list/table.ts'];
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
  message: `Only these files send writes to the table: ${tableWriters.join(', ')}. Their types keep one writer a row.`,
}));
const rowWriters = ['asset', 'change-computation', 'change-run', 'claim'].map((file) => `shared/rows/${file}.ts`);
const importOfRowKeys = {
  selector: 'ImportSpecifier[imported.name="keyToWrite"]',
  message: `Only these files write their rows: ${rowWriters.join(', ')}.`,
};
const castToKey = {
  selector: 'TSAsExpression > TSTypeReference[typeName.name="Key"]',
  message: `The functions of ${keyFiles.join(', ')} make keys. A cast could name a row that has one writer.`,
};
/** What no production file may contain that is not part of shared/table/. */
const outsideTheTable = [...importsOfWrites, ...keyLiterals, castToKey, importOfRowKeys, bundledSpreads];

/** Matches a doc comment that begins with a preposition, a conjunction or a pronoun: it says little where a hover shows it alone. */
const fragment = new RegExp(
  `^\\*[\\s*"'(]*(${[
    'about above across after against also although among and around as at because before behind below beside besides between',
    'beyond both but by down during each either for from he here how i if in into it its like neither no nor not of off on once one',
    'ones only onto or our out over per same she since so such than that their them then there these they this those though',
    'through to toward towards under unless unlike until up via we what when where whether which while who whose why with within without',
    'yet you your',
  ]
    .join(' ')
    .replaceAll(' ', '|')})\\b`,
  'i',
);
const docComments = {
  create: (context) => ({
    Program: () => {
      for (const comment of context.sourceCode.getAllComments()) {
        if (comment.type !== 'Block' || !fragment.test(comment.value)) continue;
        context.report({
          loc: comment.loc,
          message: 'Begin a doc comment with a verb or a noun: it must say alone what this is or does.',
        });
      }
    },
  }),
};

const production = '{functions,gateway,infra,local,packages,shared,tools}/**/*.{ts,tsx}';

export default defineConfig(
  globalIgnores(['cdk.out/', '**/dist/', 'coverage/', 'packages/client/generated/api-types.ts']),
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ['tsconfig.json', 'packages/console/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { house: { rules: { 'doc-comments': docComments } } },
    rules: {
      'house/doc-comments': 'error',
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
    files: [production],
    linterOptions: { noInlineConfig: true },
    rules: {
      'max-params': ['error', 5],
      'no-restricted-imports': ['error', { paths: environmentImport }],
      'no-restricted-syntax': ['error', ...outsideTheTable],
    },
  },
  {
    files: ['{functions,gateway,shared}/**/*.ts'],
    ignores: ['gateway/start-bundle.ts'], // imports the bundle
    rules: { 'no-restricted-syntax': ['error', dynamicImports, ...outsideTheTable] },
  },
  {
    files: ['packages/client/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', dynamicImports, bundledSpreads] },
  },
  {
    files: rowWriters,
    rules: { 'no-restricted-syntax': ['error', dynamicImports, ...outsideTheTable.filter((rule) => rule !== importOfRowKeys)] },
  },
  { files: tableWriters, rules: { 'no-restricted-syntax': ['error', dynamicImports, bundledSpreads, ...keyLiterals] } },
  { files: keyFiles, rules: { 'no-restricted-syntax': ['error', dynamicImports, bundledSpreads, ...importsOfWrites] } },
  { files: ['packages/console/**/*.{ts,tsx}'], extends: [reactHooks.configs.flat.recommended] },
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
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off', // expect.any() and the like
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
