/** A picture of a terminal for the pages: what it shows, drawn by a browser. */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { screenOf } from './terminal';

const folder = join(__dirname, '..', '..', 'docs', 'pictures');
const colors: Record<string, string> = {
  '1': 'font-weight:bold',
  '31': 'color:#f66',
  '32': 'color:#6d6',
  '33': 'color:#fd6',
};

/** Only with ORDER_SAGA_PICTURES=1. @param command what a person has typed */
export async function takePicture(name: string, written: string, command: string): Promise<void> {
  if (process.env['ORDER_SAGA_PICTURES'] !== '1') return;
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1000, height: 200 }, deviceScaleFactor: 1.5 });
    const text = [command, ...screenOf(written)].map(inHtml).join('\n').trimEnd();
    await page.setContent(
      `<pre style="margin:0;padding:16px;background:#1b1d23;color:#ddd;font:14px/1.45 'DejaVu Sans Mono',monospace;white-space:pre-wrap">${text}</pre>`,
    );
    await page.locator('pre').screenshot({ path: join(folder, `${name}.png`) });
  } finally {
    await browser.close();
  }
}

function inHtml(line: string): string {
  const safe = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // eslint-disable-next-line no-control-regex
  return safe.replaceAll(/\u001b\[(\d+)m(.*?)\u001b\[\d+m/g, (_, code: string, text: string) => {
    return `<span style="${colors[code] ?? ''}">${text}</span>`;
  });
}
