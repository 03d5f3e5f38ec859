/** The provider's profile, as it stands in its file; or the one that is known by its name. */
import { parseJson } from '../domain/json';
import { beyondLimits } from '../domain/limits';
import { describeProblems, firstOf, problemOf } from '../domain/problems';
import { httpProfile, profileSchema, type Profile } from '../domain/profile';
import { readText } from './settings';

/** @throws Error that says which field is wrong */
export function readProfile(pathOrName: string): Profile {
  if (pathOrName === 'http') return httpProfile();
  const json = parseJson(readText(pathOrName), 'the file');
  const read = profileSchema().safeParse(json);
  const problems = [...beyondLimits(json), ...(read.error?.issues.map(problemOf) ?? [])];
  if (read.success && problems.length === 0) return read.data;
  throw new Error(describeProblems(firstOf(problems)));
}
