/** The browser of these tests: a Chromium that is installed on the machine. Nothing is downloaded. */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** The paths of distributions. ORDER_SAGA_TEST_CHROMIUM names another one. */
const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const executablePath = [process.env['ORDER_SAGA_TEST_CHROMIUM'], ...usualPlaces].find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);

/** Why a browser test cannot run here; undefined where it can. */
export function whyNoBrowser(): string | undefined {
  if (executablePath === undefined) return 'no Chromium is installed (ORDER_SAGA_TEST_CHROMIUM names its path)';
  if (!process.env['ORDER_SAGA_TEST_TEMPORAL_UI']) {
    return 'the Temporal server of TEMPORAL_ADDRESS has no known Web UI (ORDER_SAGA_TEST_TEMPORAL_UI names its URL)';
  }
  return undefined;
}

export async function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(whyNoBrowser());
  return chromium.launch({
    executablePath,
    // In a container there is neither a sandbox nor a GPU; and a test calls nobody but the Web UI.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
