/**
 * Which bought servers lack firewalls that the request asked for. However the saga ends, it reports them as leftovers
 * `server-unprotected`: a server without protection must not look like one that is done.
 */
import type { Standing } from '../activities/journal';
import type { Leftover } from '../domain/leftovers';
import type { Saga } from '../saga/saga';

export interface Protected {
  vmObjectId: number;
  firewalls: number[];
  /** This run has assigned them. The journal knows what an earlier run has assigned. */
  isAssigned?: boolean;
  /** What the provider's list does not show of them; undefined until this run has looked, or a person has. */
  lacks?: number[];
  /** The provider's list cannot be read. */
  isUnverified?: boolean;
  /** The note of the person who skipped it. */
  note?: string;
}

/** By server: the firewalls that earlier runs have assigned, and the provider's list does not show. */
export type Denied = ReadonlyMap<number, readonly number[]>;

/** What is known of the servers beyond this run. */
interface Known {
  /** By earlier runs, as the journal has it. */
  assigned: Standing['assigned'];
  denied: Denied;
  /** Of the servers, where they are known. */
  ids: readonly number[] | undefined;
}

const nothingKnown: Known = { assigned: [], denied: new Map(), ids: undefined };

export class Protection {
  /** Whether this run knows that the order was placed. */
  isPlaced = false;
  /** Undefined until they are known; an order may bring none. */
  servers?: Protected[];
  private isReported = false;

  /** @param wanted for each server of the order */
  constructor(private readonly wanted: readonly number[]) {}

  /** Reports once: the report at the story's end also holds where the saga is cancelled in its last moment. */
  reportLeftovers(saga: Saga, known: Known = nothingKnown): void {
    if (this.isReported || this.wanted.length === 0) return;
    this.isReported = true;
    const servers = this.servers ?? known.ids?.map((id) => this.untouched(id));
    if (servers === undefined) {
      const firewalls = [...this.wanted];
      const why = 'the saga ended before the object ids of the servers were known';
      saga.progress.leave({ kind: 'server-unprotected', firewalls, why });
    }
    for (const server of servers ?? []) saga.progress.leave(...this.leftoversOf(server, known));
  }

  private untouched(vmObjectId: number): Protected {
    return { vmObjectId, firewalls: [...this.wanted] };
  }

  private leftoversOf(server: Protected, { assigned, denied }: Known): Leftover[] {
    const { vmObjectId, firewalls, isAssigned, isUnverified, lacks, note } = server;
    if (isUnverified) return [unverified(vmObjectId, firewalls)];
    const before = isAssigned
      ? firewalls
      : assigned.flatMap((one) => (one.vmObjectId === vmObjectId ? one.firewalls : []));
    const isThere = (id: number) => before.includes(id) && !denied.get(vmObjectId)?.includes(id);
    const missing = lacks ?? firewalls.filter((id) => !isThere(id));
    if (missing.length === 0) return [];
    const isDenied = lacks !== undefined || missing.every((id) => before.includes(id));
    const what = isDenied ? 'the provider’s list does not show them' : 'they were not assigned';
    const why = note === undefined ? `the saga ended: ${what}` : `${what}; a person left it out: ${note}`;
    return [{ kind: 'server-unprotected', vmObjectId, firewalls: missing, why }];
  }
}

/** @param firewalls that it should have, and perhaps has */
export function unverified(vmObjectId: number, firewalls: readonly number[]): Leftover {
  const why = 'they were assigned, and the format of the provider’s list is not known';
  return { kind: 'server-unverified', vmObjectId, firewalls: [...firewalls], why };
}
