/** What every look is given. */
import type { BaseImages } from './base-images';
import type { Checks } from './checks';
import type { Project } from './project';

export interface Context {
  checks: Checks;
  project: Project;
  images: BaseImages;
}

export type Look = (context: Context) => Promise<void>;
