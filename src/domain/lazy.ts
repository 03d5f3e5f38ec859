/** Schemas are expensive to build. What workflows share is frozen (`preloaded.ts`): this function, not the schema. */
export function lazy<T extends object>(build: () => T): () => T {
  let built: T | undefined;
  return () => (built ??= build());
}
