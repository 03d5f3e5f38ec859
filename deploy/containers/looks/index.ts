/** What is looked at, in this order: each look finds everything up, and leaves it so. */
import type { Look } from '../context';
import { again } from './again';
import { crashes } from './crashes';
import { first } from './first';
import { hardened } from './hardened';
import { metrics } from './metrics';
import { settings } from './settings';
import { web } from './web';
import { wrong } from './wrong';

export const looks: Record<string, Look> = { first, settings, hardened, web, crashes, again, metrics, wrong };
