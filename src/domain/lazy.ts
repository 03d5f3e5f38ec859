/**
 * A schema is expensive to build: each is built where it is first needed, and kept. Workflows share theirs
 * (`preloaded.ts`), and what is frozen there is this function, not the schema, which has to change itself when it is
 * first used.
 */
export function lazy<T extends object>(build: () => T): () => T {
  let built: T | undefined;
  return () => (built ??= build());
}
