/** The provider's profile, as it stands in its file; or the one that is known by its name. */
import { describeProblems, firstOf, nameOfField } from '../domain/problems';
import { httpProfile, profileSchema, type Profile } from '../domain/profile';
import { parseJson, readText } from './settings';

/** @throws Error that says which field is wrong */
export function readProfile(pathOrName: string): Profile {
  if (pathOrName === 'http') return httpProfile();
  const read = profileSchema().safeParse(parseJson(readText(pathOrName), 'the file is not JSON'));
  if (read.success) return read.data;
  const problems = read.error.issues.map((issue) => ({
    field: nameOfField(issue.path),
    message: issue.code === 'unrecognized_keys' ? `has no field ${issue.keys.join(', ')}` : issue.message,
  }));
  throw new Error(describeProblems(firstOf(problems)));
}
