/** Starts a dev server with the CLI of its first argument, prints the server's pid, and ends as the second one says. */
import { startDevServer } from '../../../scripts/dev-server';

async function main([cli = '', ending = '']: string[]): Promise<void> {
  const { pid } = await startDevServer({ cli, ui: false });
  process.stdout.write(`${pid}\n`, () => {
    if (ending === 'throw') throw new Error('as asked');
    if (ending === 'wait') setInterval(() => undefined, 1_000);
  });
}

void main(process.argv.slice(2));
