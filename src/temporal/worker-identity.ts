/**
 * What a worker says of itself to Temporal, which shows it as the identity of its pollers: by it a client knows, before it
 * sends anything, which keys the workers have, and `doctor` whether all of them read the provider alike.
 *
 * ```text
 *   4711@host keys=2026-11,2026-05,* profile=9f86d081
 * ```
 */
export interface WorkerIdentity {
  /** `process id@host`, as Temporal names a worker that is given no name. */
  process: string;
  /** Ids of its payload keys, the one that encrypts first; none: it works in the clear. */
  keys: readonly string[];
  /** They are of a file, which it reads again: it may have others by now. Shown as `*`. */
  change: boolean;
  /** The beginning of a digest of the provider's profile; undefined: it has none. */
  profile: string | undefined;
}

export function describeWorker({ process, keys, change, profile }: WorkerIdentity): string {
  return `${process} keys=${[...keys, ...(change ? ['*'] : [])].join(',')} profile=${profile ?? ''}`;
}

/** @returns undefined for a poller that is no worker of ours */
export function readWorker(identity: string): WorkerIdentity | undefined {
  const [, process, keys, profile] = /^(\S+) keys=(\S*) profile=(\S*)$/.exec(identity) ?? [];
  if (process === undefined) return undefined;
  const ids = keys ? keys.split(',') : [];
  const change = ids.at(-1) === '*';
  return { process, keys: change ? ids.slice(0, -1) : ids, change, profile: profile || undefined };
}
