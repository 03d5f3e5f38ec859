/**
 * Lint looks for what the compiler lets through and a reader overlooks. The walls between rooms are
 * `.dependency-cruiser.cjs`; the looks are prettier's.
 */
import { defineConfig, globalIgnores } from 'eslint/config';
import { builtinRules } from 'eslint/use-at-your-own-risk';
import tseslint from 'typescript-eslint';

/** ESLint's own list, which it publishes as a package of its own; each rule says itself whether it is on it. */
const recommended = Object.fromEntries(
  [...builtinRules].filter(([, { meta }]) => meta.docs?.recommended).map(([name]) => [name, 'error']),
);

/** The programs: what is printed for somebody to read is printed here. The rest of `src` logs. */
const programs = ['src/worker.ts', 'src/starter.ts', 'src/**/main.ts', 'src/cli/**'];

const environment = [
  "MemberExpression[object.name='process'][property.name='env']",
  "VariableDeclarator[init.name='process']",
  'ImportDeclaration[source.value=/^(node:)?process$/]',
].map((selector) => ({
  selector,
  message: 'Only src/config reads the environment: take the setting as a parameter.',
}));

/** Known to the compiler, because the rest of the project runs on Node, but not to be had or relied on in a workflow. */
const outsideWorkflows = [
  ...['process', 'Buffer', 'require', 'fetch', 'setImmediate'].map((name) => [name, 'there is none in a workflow']),
  ...['WeakRef', 'FinalizationRegistry'].map((name) => [name, 'when it collects differs on replay']),
].map(([name, message]) => ({ name, message }));

export default defineConfig(
  globalIgnores(['**/dist/', '.cache/', 'coverage/', 'reports/', 'schemas/', 'test/system/histories/*/']),
  { rules: recommended },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: false }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // `process.env['NAME']` is what noPropertyAccessFromIndexSignature asks for.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      // `${error}` of an unknown is the mistake that it finds; a number says what it is.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // A waiting loop is one that says so.
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // An empty string in the environment means "not set".
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // `return next()` where nothing is returned is how one leaves early.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // Prettier writes every semicolon, so that no line can run on into the next.
      'no-unexpected-multiline': 'off',
    },
  },
  { rules: { eqeqeq: 'error', 'no-console': 'off', 'object-shorthand': 'error', 'prefer-template': 'error' } },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...environment] },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [{ group: ['@temporalio/*/lib/*'], message: 'A private path: the next release may not have it.' }],
        },
      ],
    },
  },
  { files: ['src/**/*.ts'], ignores: programs, rules: { 'no-console': 'error' } },
  {
    files: ['src/{saga,workflows}/**/*.ts', 'bench/bare/workflows.ts'],
    rules: { 'no-restricted-globals': ['error', ...outsideWorkflows] },
  },
  // A saga definition is whole on a screen: what it does, in which order, and what is undone.
  { files: ['src/workflows/sagas/*.ts'], rules: { 'max-lines': ['error', 60] } },
  {
    files: ['test/**/*.ts'],
    rules: {
      // `expect(mock.method)` hands over a method without its object, on purpose.
      '@typescript-eslint/unbound-method': 'off',
      // Stand-ins have the shape of the real thing, an `async` that awaits nothing included; `expect.any()` is an `any`.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // A test says what must be there by using it; when it is not, the test fails at that line.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    languageOptions: {
      globals: Object.fromEntries(
        ['process', 'console', 'module', 'require', '__dirname', 'setTimeout'].map((name) => [name, 'readonly']),
      ),
    },
  },
);
