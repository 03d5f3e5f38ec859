type DefinedOnly<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the fields that are undefined: where a field is optional, JSON and our types do not have it. */
export function omitUndefined<T extends object>(fields: T): DefinedOnly<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedOnly<T>;
}
