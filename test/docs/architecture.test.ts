/** The arrows of ARCHITECTURE.md are those that lint keeps; the code that spec/README.md names is there. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { codesIn } from './tables';
import { projectFolder, readDocument } from '../support/project';

interface Rule {
  name: string;
  from: { path?: string };
  to: { path?: string[]; pathNot?: string[] };
}

const { forbidden } = createRequire(__filename)(join(projectFolder, '.dependency-cruiser.cjs')) as {
  forbidden: Rule[];
};

/** `^src/domain(/|[.]ts$)` is the room `domain`, or a file of one; what stands for a package is none. */
const roomsIn = (patterns: readonly string[] = []) =>
  patterns.flatMap((pattern) => /^\^(?:src\/)?([\w/-]+)\(\/\|\[\.\]ts\$\)$/.exec(pattern)?.[1] ?? []);

const walls = new Map(
  forbidden.flatMap(({ name, from, to }) => {
    const [room] = roomsIn([from.path ?? '']);
    return room !== undefined && name.endsWith('-stays-within-its-walls') ? [[room, roomsIn(to.pathNot)] as const] : [];
  }),
);
const typesOnly = new Map(
  forbidden.flatMap(({ name, from, to }) => {
    const [room] = roomsIn([from.path ?? '']);
    return room !== undefined && name.endsWith('-takes-only-types') ? [[room, roomsIn(to.path)] as const] : [];
  }),
);

/** Each room of the picture, with the rooms that it may import, and those of which only types. */
const arrows = new Map(
  [...readDocument('ARCHITECTURE.md').matchAll(/^([\w, -]+?) *──▶ ([\w, /-]+?)(?:; types of ([\w, /-]+))?$/gm)].flatMap(
    ([, from = '', to = '', types = '']) => {
      const names = (list: string) => (list === '' || list.startsWith('no room') ? [] : list.split(', ').sort());
      return names(from).map((room) => [room, { rooms: names(to), types: names(types) }] as const);
    },
  ),
);

it('are of the same rooms', () => {
  expect(walls.size).toBeGreaterThan(10);
  expect([...arrows.keys()].sort()).toEqual([...walls.keys()].sort());
});

it.each([...walls.keys()])('lead from %s to the same rooms', (room) => {
  const types = typesOnly.get(room) ?? [];
  const rooms = (walls.get(room) ?? []).filter((other) => other !== room && !types.includes(other));
  expect(arrows.get(room)).toEqual({ rooms: rooms.sort(), types: [...types].sort() });
});

it('keep the rules of spec/README.md in code that is there', () => {
  const named = [...readDocument('spec/README.md').matchAll(/((?:`\w+`(?:, )?)+) in `(src\/[\w/.-]+\.ts)`/g)].flatMap(
    ([, names = '', file = '']) => codesIn(names).map((name) => [name, file] as const),
  );
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter(([name, file]) => !new RegExp(`\\b${name}\\b`).test(readDocument(file)))).toEqual([]);
});
