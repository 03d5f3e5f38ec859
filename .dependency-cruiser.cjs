/**
 * The walls between the rooms (ARCHITECTURE.md has the map). Each room says what it may reach; everything else is an
 * error, so that a new import is a decision somebody makes here.
 *
 *   rooms     of src, by value      types     of src, `import type` only
 *   packages  from the registry     node      Node's built-ins
 */
const rooms = {
  // The vocabulary is read by everybody, in workflows too: it stays pure.
  'src/domain': { packages: ['lossless-json', 'zod'] },
  // The engine. Deterministic: what it does is done by activities, of which it knows the types.
  'src/saga': {
    rooms: ['src/domain', 'src/temporal/search-attributes'],
    types: ['src/activities'],
    packages: ['@temporalio/workflow', '@temporalio/common', 'zod'],
  },
  // The saga definitions, and the steps that several share.
  'src/workflows': {
    rooms: ['src/domain', 'src/saga'],
    types: ['src/activities'],
    packages: ['@temporalio/workflow', '@temporalio/common', 'zod'],
  },
  'src/activities': {
    rooms: ['src/domain', 'src/journal', 'src/notifications', 'src/provider', 'src/security', 'src/temporal'],
    packages: ['@temporalio/activity', '@temporalio/common'],
    node: true,
  },
  // What was sent, outside of Temporal: it knows no saga and no provider.
  'src/journal': { rooms: ['src/domain'], packages: ['kysely', 'libsql', 'pg'], node: true },
  // Search attributes, which workflows write; and the service, which client, worker and activities ask.
  'src/temporal': { rooms: ['src/domain'], packages: ['@temporalio/client', '@temporalio/common'] },
  // Would make sense as a library, without Temporal and without sagas.
  'src/provider': {
    rooms: [
      ...['src/domain/json', 'src/domain/profile', 'src/domain/retry-after', 'src/domain/secrets'],
      // Of no saga: texts, values and errors.
      ...['src/domain/markdown', 'src/domain/ignore-errors', 'src/domain/values'],
    ],
    // The fields of the provider's document stand once.
    types: ['src/domain/requests'],
    packages: ['undici', 'zod'],
    node: true,
  },
  // Speaks to receivers that others run: it knows no journal and no saga.
  'src/notifications': {
    rooms: ['src/domain/loopback', 'src/domain/retry-after'],
    // The form of a route, and of a message.
    types: ['src/domain/notifications'],
    packages: ['undici', 'standardwebhooks', 'ipaddr[.]js'],
    node: true,
  },
  'src/security': {
    rooms: ['src/domain'],
    packages: ['@hono/node-server', '@temporalio/common', '@temporalio/proto', 'hono', 'jose', 'zod'],
    node: true,
  },
  // Holds keys and a socket: no client, no worker, no provider.
  'src/codec-server': {
    rooms: ['src/config', 'src/domain/ignore-errors', 'src/security'],
    packages: ['pino'],
    node: true,
  },
  // What a backend imports: no worker, no provider, no settings of ours.
  'src/client': {
    rooms: ['src/domain', 'src/security', 'src/temporal'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/envconfig', '@temporalio/proto'],
    node: true,
  },
  // How the worker stands in its surroundings. It wires the hands to what they work with, and never imports a workflow.
  'src/operations': {
    rooms: [
      ...['src/activities', 'src/client', 'src/journal', 'src/notifications', 'src/provider', 'src/security'],
      ...['src/config', 'src/domain', 'src/temporal'],
    ],
    types: ['src/workflows'],
    packages: [
      '@temporalio/client',
      '@temporalio/worker',
      '@temporalio/common',
      '@temporalio/proto',
      '@opentelemetry/[^/]+',
      'pino',
      'pino-pretty',
    ],
    node: true,
  },
  'src/cli': {
    // The provider: `probe` only, which reads.
    rooms: ['src/client', 'src/domain', 'src/journal', 'src/provider', 'src/security', 'src/config'],
    packages: ['@temporalio/client', '@temporalio/common', 'commander', 'csv-parse', 'zod'],
    node: true,
  },
  // Settings have the shape that each room asks for, and no room asks here.
  'src/config': {
    rooms: ['src/domain', 'src/security'],
    types: ['src/activities', 'src/journal', 'src/provider', 'src/client'],
    packages: ['@temporalio/client', '@temporalio/envconfig', 'zod'],
    node: true,
  },
  // The provider's stand-in must not share a misunderstanding with the code that it is to test.
  sandbox: { packages: ['zod', 'undici'], node: true },
};

/** A room is a folder, or one file of that name. */
const inside = (room) => `^${room}(/|[.]ts$)`;
const ofPackage = (name) => `(^|/)node_modules/${name}/`;

const walls = Object.entries(rooms).map(([room, { rooms = [], types = [], packages = [], node = false }]) => ({
  name: `${room.replace('src/', '')}-stays-within-its-walls`,
  severity: 'error',
  from: { path: inside(room) },
  to: {
    pathNot: [...[room, ...rooms, ...types].map(inside), ...packages.map(ofPackage)],
    ...(node ? { dependencyTypesNot: ['core'] } : {}),
  },
}));

const typesOnly = Object.entries(rooms)
  .filter(([, { types }]) => types !== undefined)
  .map(([room, { types }]) => ({
    name: `${room.replace('src/', '')}-takes-only-types`,
    severity: 'error',
    from: { path: inside(room) },
    to: { path: types.map(inside), dependencyTypesNot: ['type-only'] },
  }));

module.exports = {
  forbidden: [
    ...walls,
    ...typesOnly,
    {
      name: 'workflows-are-only-bundled',
      comment: 'Their code runs inside the workflow sandbox; outside of it an import finds no workflow around itself.',
      severity: 'error',
      // The sentences of questions are printed into the docs.
      from: {
        path: '^(src|scripts)/',
        pathNot: [...['src/workflows', 'src/saga'].map(inside), 'failures-table[.]ts$'],
      },
      to: { path: ['src/workflows', 'src/saga'].map(inside), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'src-stands-alone',
      comment: 'What is shipped needs nothing of what it is developed with.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: ['sandbox', 'test', 'scripts', 'deploy', 'bench'].map(inside) },
    },
    {
      name: 'src-ships-its-packages',
      comment: 'A development dependency is not there in production.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'journal-database-knows-no-saga',
      comment: 'How a statement reaches a database; what it means stands above.',
      severity: 'error',
      from: { path: '^src/journal/database/' },
      to: { path: '^src/journal/', pathNot: '^src/journal/database/' },
    },
    {
      name: 'journal-views-are-not-the-protocol',
      comment: 'What is asked of the journal beside its protocol stands behind it.',
      severity: 'error',
      from: { path: '^src/journal/', pathNot: '^src/journal/views/' },
      to: { path: '^src/journal/views/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-loose-ends', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Imports as they are written, those of types included, which the compiler leaves out.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
