/** For `.catch`: nothing where the error is one of these, as it may be; any other one is thrown on. */
export function noneIf(...kinds: (abstract new (...args: never[]) => Error)[]): (error: unknown) => undefined {
  return (error) => {
    if (!kinds.some((kind) => error instanceof kind)) throw error;
  };
}
