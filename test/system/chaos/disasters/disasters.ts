/** All that is rehearsed. docs/disasters.md has a row for each; a test holds the two against each other. */
import { certificates } from './certificate';
import { failover } from './failover';
import { fullDisks } from './full-disk';
import { noWorkers } from './no-workers';
import { restores } from './restore';
import type { Disaster } from './scene';

export const disasters: readonly Disaster[] = [...restores, failover, noWorkers, ...fullDisks, ...certificates];
