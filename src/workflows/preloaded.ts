/**
 * All runs of a worker share these modules, loaded and frozen when it starts. Everything else of a bundle is
 * evaluated anew in each run, and zod's schemas were half of what a run's first task took (docs/internals/performance.md).
 *
 * A module belongs here only if it can keep nothing of a run: those with schemas. Those that a workflow reads by are
 * built at once, because zod keeps settings of its own that cannot be changed any more when they are frozen.
 */
import { decisionSchemas } from '../domain/decisions';
import '../domain/outcomes';
import '../domain/notifications';
import '../domain/progress';
import '../domain/quotes';
import '../domain/reconcile';
import '../domain/record';
import { requestSchemas } from '../domain/requests';
import '../domain/results';

// The SDK takes and formats the stack of every promise of a workflow; a failure still names our line in so many frames.
Error.stackTraceLimit = 4;

for (const schemaOf of [...Object.values(requestSchemas()), ...Object.values(decisionSchemas)]) schemaOf();
