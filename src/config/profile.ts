/** The provider's profile, as it stands in its file; or the one that is known by its name. */
import { describeProblems, firstOf, problemOf } from '../domain/problems';
import { httpProfile, profileSchema, type Profile } from '../domain/profile';
import { parseJson, readText } from './settings';

/** @throws Error that says which field is wrong */
export function readProfile(pathOrName: string): Profile {
  if (pathOrName === 'http') return httpProfile();
  const read = profileSchema().safeParse(parseJson(readText(pathOrName), 'the file is not JSON'));
  if (read.success) return read.data;
  throw new Error(describeProblems(firstOf(read.error.issues.map(problemOf))));
}
