/** Prints docs/client.md: what a backend calls and catches, from the comments of src/client. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const intro = `# The client in TypeScript

Printed by \`npm run schemas\` from the comments of \`src/client\`. For another language: [clients](clients.md).

**One connection for a process.** Make \`Connection\`, \`Client\` and \`OrderSagaClient\` once, at its start, as [the README](../README.md#from-a-backend) has it. Close the connection when nothing waits on it any more.

**After a cut line** \`result()\`, \`events()\` and \`reached()\` go on by themselves, however long it takes. Any other call ends with NoConnectionError: repeat it, for no order is started and nothing is decided twice. A process that was restarted goes on with \`sagas.get(reference)\`, or sends the same request again.

\`events()\` tells states, not steps: what changes at once is told once.

**Errors** extend \`OrderSagaError\`; \`section\` of each says where it is explained.`;

const parts = [
  ['Options', 'client.ts', 'OrderSagaClientOptions'],
  ['OrderSagaClient', 'client.ts', 'OrderSagaClient'],
  ['SagaHandle: one saga', 'handle.ts', 'SagaHandle'],
  ['Sweeps: `sagas.sweeps`', 'reconcile.ts', 'Sweeps'],
] as const;

type Declared = ts.ClassDeclaration | ts.InterfaceDeclaration;

function declaredIn(file: string): Declared[] {
  const path = join(__dirname, '..', 'src', 'client', file);
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  return source.statements.filter((one) => ts.isClassDeclaration(one) || ts.isInterfaceDeclaration(one));
}

const isOurs = ({ name }: Declared) => name?.text.endsWith('Error') && name.text !== 'OrderSagaError';

export function clientPage(): string {
  const errors = declaredIn('errors.ts').filter(isOurs);
  const names = errors.map(({ name }) => name?.text ?? '');
  const sections = parts.map(([heading, file, name]) => {
    const members = declaredIn(file).find((one) => one.name?.text === name)?.members ?? [];
    return [`## ${heading}`, members.map(lineOf).join('')].join('\n\n');
  });
  const linked = [intro, ...sections].join('\n\n').replace(/\b\w+Error\b/g, (name) => {
    return names.includes(name) ? `[${name}](#${name.toLowerCase()})` : name;
  });
  const explained = errors.map((error) => `### ${error.name?.text}\n\n${wordsOf(error)}`);
  return [linked, '## Errors', ...explained].join('\n\n');
}

/** Nothing of what is private, or has no comment. */
function lineOf(member: ts.ClassElement | ts.TypeElement): string {
  const isPrivate =
    ts.canHaveModifiers(member) && ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
  const words = wordsOf(member);
  if (isPrivate || words === '' || member.name === undefined) return '';
  const given = ts.isMethodDeclaration(member) ? `(${member.parameters.map(parameterOf).join(', ')})` : '';
  return `- \`${member.name.getText()}${given}\`: ${words}\n`;
}

function parameterOf({ name, questionToken, initializer }: ts.ParameterDeclaration): string {
  const one = ts.isObjectBindingPattern(name)
    ? `{ ${name.elements.map((element) => element.name.getText()).join(', ')} }`
    : name.getText();
  return questionToken || initializer ? `${one}?` : one;
}

/** The comment, and what its tags say, as sentences. */
function wordsOf(node: ts.Node): string {
  const said = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).at(-1);
  const textOf = (comment: Parameters<typeof ts.getTextOfJSDocComment>[0]) =>
    (ts.getTextOfJSDocComment(comment) ?? '')
      .replace(/\{@link (\w+)\}/g, '`$1`')
      .replace(/\s+/g, ' ')
      .replace(/docs\/([\w-]+)(\.md\S*?)(?=[;,.]* |$)/g, '[$1]($1$2)')
      .trim();
  const tags = (said?.tags ?? []).map((tag) => {
    const text = textOf(tag.comment);
    if (ts.isJSDocParameterTag(tag)) return `\`${tag.name.getText()}\`: ${text}`;
    return `${{ throws: 'Throws ', returns: 'Gives ', default: 'By default ' }[tag.tagName.text]}${text}`;
  });
  return [textOf(said?.comment), ...tags]
    .filter(Boolean)
    .map((text) => text.replace(/[^.]$/, '$&.'))
    .join(' ');
}
