/** A workflow that writes an unknown search attribute stops: the worker adds them, or says the exact command. */
import { temporal } from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { CannotStart } from '../config';
import { grpcCodeOf, grpcCodes } from '../temporal/service';
import { sagaAttributes } from '../temporal/search-attributes';

const { IndexedValueType } = temporal.api.enums.v1;

/** The Temporal command line's words for types. */
const words = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList', DATETIME: 'Datetime' };

const wanted = Object.values(sagaAttributes).map(({ name, type }) => {
  return { name, word: words[type], indexed: IndexedValueType[`INDEXED_VALUE_TYPE_${type}`] };
});
type Wanted = (typeof wanted)[number];

type Operator = Pick<NativeConnection, 'operatorService'>;

export async function ensureSearchAttributes({ operatorService }: Operator, namespace: string): Promise<void> {
  const { customAttributes } = await listed({ operatorService }, namespace);
  const mistyped = wanted.filter(({ name, indexed }) => (customAttributes[name] ?? indexed) !== indexed);
  if (mistyped.length > 0) {
    throw new CannotStart(
      `search attributes of namespace ${namespace} have the wrong type: ${mistyped.map(({ name }) => name).join(', ')}. ` +
        `Remove them, then create them again:\n${commands(namespace, mistyped)}`,
    );
  }
  const missing = wanted.filter(({ name }) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(({ name, indexed }) => [name, indexed])),
    });
  } catch (error) {
    // Two workers that start together add them at once; the second gets the error that they exist.
    const { customAttributes: now } = await listed({ operatorService }, namespace);
    if (wanted.every(({ name, indexed }) => now[name] === indexed)) return;
    const why = error instanceof Error ? error.message : String(error);
    if (/only have up to|cannot have more than|limit/i.test(why))
      throw new CannotStart(noRoom(namespace, customAttributes, why));
    throw new CannotStart(
      `namespace ${namespace} lacks search attributes, and this worker may not create them ` +
        `(${why}). Create them:\n${commands(namespace, missing)}`,
    );
  }
}

/** A visibility store in SQL has a fixed number of places for each type. */
function noRoom(namespace: string, taken: Record<string, temporal.api.enums.v1.IndexedValueType>, why: string): string {
  const type = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
  const keywords = wanted.filter(({ indexed }) => indexed === type).map(({ name }) => name);
  const others = Object.keys(taken).filter((name) => taken[name] === type && !keywords.includes(name));
  return (
    `namespace ${namespace} has no room for the search attributes of sagas: visibility in SQL has ten places of type Keyword, ` +
    `sagas need ${keywords.length}, and ${others.length} are taken by ${others.join(', ')} (${why}). ` +
    'Remove some of those, or give sagas a namespace of their own (TEMPORAL_NAMESPACE)'
  );
}

/** Workers may have no access to the operator service; then they cannot know what the namespace lacks. */
async function listed({ operatorService }: Operator, namespace: string) {
  try {
    return await operatorService.listSearchAttributes({ namespace });
  } catch (error) {
    const code = grpcCodeOf(error);
    if (code !== grpcCodes.permissionDenied && code !== grpcCodes.unimplemented) throw error;
    throw new CannotStart(
      `this worker may not list the search attributes of namespace ${namespace} ` +
        `(${(error as Error).message}). Allow it, and create those that are missing:\n${commands(namespace, wanted)}`,
    );
  }
}

function commands(namespace: string, some: readonly Wanted[]): string {
  const create = `  temporal operator search-attribute create --namespace ${namespace}`;
  return some.map(({ name, word }) => `${create} --name ${name} --type ${word}`).join('\n');
}
