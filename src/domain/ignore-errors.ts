/** For `.catch`: nothing where the error is one of these, as it may be; any other one is thrown on. */
export function ignoreErrors(...kinds: (abstract new (...args: never[]) => Error)[]): (error: unknown) => undefined {
  return (error) => {
    if (!kinds.some((kind) => error instanceof kind)) throw error;
  };
}

/** The result of the work; or the other value, if it throws, whatever it throws. */
export function tryOr<T, U>(work: () => T, otherwise: U): T | U {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
