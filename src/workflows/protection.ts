/**
 * Which of the servers that were bought lack firewalls that were asked for. However the saga ends, that is told, as leftovers
 * `server-unprotected`: a server that runs open must not look like one that is done.
 */
import type { Standing } from '../activities/journal';
import type { Leftover } from '../domain/leftovers';
import type { Saga } from '../saga/saga';

export interface Protected {
  vmObjectId: number;
  /** As they were asked for, or corrected. */
  firewalls: number[];
  /** Undefined: this run has not assigned them, and what an earlier one has, the journal says. */
  lacks?: number[];
  /** What a person said who left it out. */
  note?: string;
}

export class Protection {
  /** The order is placed, as this run knows. */
  isPlaced = false;
  /** Once they are known: an order may bring none. */
  servers?: Protected[];
  private told = false;

  /** @param wanted for each server of the order */
  constructor(private readonly wanted: readonly number[]) {}

  /**
   * Told once: what is told when the story ends stands also where it is cancelled in its last moment.
   *
   * @param ids of the servers, where they are known; the journal may know more
   */
  reportLeftovers(saga: Saga, assigned: Standing['assigned'] = [], ids?: readonly number[]): void {
    if (this.told || this.wanted.length === 0) return;
    this.told = true;
    const servers = this.servers ?? ids?.map((id) => this.untouched(id));
    if (servers === undefined) {
      const firewalls = [...this.wanted];
      const why = 'the saga ended before the object ids of the servers were known';
      saga.progress.leave({ kind: 'server-unprotected', firewalls, why });
    }
    for (const server of servers ?? []) saga.progress.leave(...leftoversOf(server, assigned));
  }

  private untouched(vmObjectId: number): Protected {
    return { vmObjectId, firewalls: [...this.wanted] };
  }
}

function leftoversOf({ vmObjectId, firewalls, lacks, note }: Protected, assigned: Standing['assigned']): Leftover[] {
  const before = assigned.flatMap((one) => (one.vmObjectId === vmObjectId ? one.firewalls : []));
  const missing = lacks ?? firewalls.filter((id) => !before.includes(id));
  if (missing.length === 0) return [];
  const what = lacks === undefined ? 'they were not assigned' : 'the provider’s list does not show them';
  const why = note === undefined ? `the saga ended: ${what}` : `${what}; a person left it out: ${note}`;
  return [{ kind: 'server-unprotected', vmObjectId, firewalls: missing, why }];
}
