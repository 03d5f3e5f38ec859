/** What docker-compose.yml says of a service, for whoever runs the same program without a container engine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export type Variables = Record<string, string>;

/** As much of it as somebody asks for here. */
interface Service {
  image: string;
  command?: string[];
  environment: Variables;
  stop_grace_period?: string;
  logging?: object;
  mem_limit?: string;
}

/**
 * The service, with every `${VARIABLE}` put in; numbers are texts, as they are in an environment.
 *
 * @throws when a variable is missing that must be there
 */
export function composeService(name: string, variables: Variables): Service {
  const filled = JSON.stringify(readCompose().services[name], (_key, value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? interpolated(String(value), variables) : value,
  );
  return JSON.parse(filled) as Service;
}

export function readCompose(): { services: Record<string, Service> } {
  const text = readFileSync(join(__dirname, '..', 'docker-compose.yml'), 'utf8');
  return parse(text, { merge: true }) as { services: Record<string, Service> };
}

/** The two forms that the file uses: `${NAME:?what is said when it is missing}` and `${NAME:-default}`. */
function interpolated(text: string, variables: Variables): string {
  return text.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_all, name: string, kind: string, rest: string) => {
    const value = variables[name] || (kind === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name} ${rest}`);
    return value;
  });
}
