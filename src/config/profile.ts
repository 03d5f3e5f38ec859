/** The provider's profile, as it stands in its file; or the one that is known by its name. */
import { orElse } from '../domain/none-if';
import { describeProblems, firstOf, nameOfField } from '../domain/problems';
import { httpProfile, profileSchema, type Profile } from '../domain/profile';
import { readText } from './settings';

/** @throws Error that says which field is wrong */
export function readProfile(pathOrName: string): Profile {
  if (pathOrName === 'http') return httpProfile();
  const text = readText(pathOrName);
  // The engine's message would quote the file, which may be another one, with a secret in it.
  const json = orElse(() => JSON.parse(text) as unknown, undefined);
  if (json === undefined) throw new Error('the file is not JSON');
  const read = profileSchema().safeParse(json);
  if (read.success) return read.data;
  const problems = read.error.issues.map((issue) => ({
    field: nameOfField(issue.path),
    message: issue.code === 'unrecognized_keys' ? `has no field ${issue.keys.join(', ')}` : issue.message,
  }));
  throw new Error(describeProblems(firstOf(problems)));
}
