/** The images of others that docker-compose.yml and the Dockerfile name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCompose } from '../compose';

export interface Pin {
  /** As it is written, with a digest where there is one. */
  image: string;
  /** Such as `temporalio/server`. */
  repository: string;
  tag: string;
}

export function readPins(): Pin[] {
  const dockerfile = readFileSync(join(__dirname, '..', '..', 'Dockerfile'), 'utf8');
  const bases = [...dockerfile.matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image ?? '');
  const services = Object.values(readCompose().services).map(({ image }) => image);
  return [...new Set([...bases, ...services])].filter((image) => !image.startsWith('order-saga')).map(toPin);
}

function toPin(image: string): Pin {
  const [, repository = '', tag = ''] = /^(.+?):([^:@]+)(?:@.*)?$/.exec(image) ?? [];
  return { image, repository, tag };
}
