/**
 * A workflow evaluates its modules in every run, and a schema is dear to build: so each is built where it is first needed, and kept.
 */
export function onFirstUse<T extends object>(build: () => T): () => T {
  let built: T | undefined;
  return () => (built ??= build());
}
