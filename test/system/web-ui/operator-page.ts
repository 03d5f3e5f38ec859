/**
 * An operator's work in Temporal's Web UI, with its own words for buttons and tabs: one method for each thing that
 * `docs/operating.md` tells to do.
 *
 * The page draws its action menu twice, for wide and for narrow windows, so what is acted on is asked to be visible.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { until } from '../../support/rig';

const picturesFolder = join(__dirname, '..', '..', '..', 'docs', 'pictures');

/** The used part of the browser's own type, which this program does not know. */
interface Scrollable {
  scrollIntoView: (options: { block: 'end' }) => void;
}

export type Tab = 'history' | 'queries' | 'user-metadata' | 'memo' | 'search-attributes' | 'pending-activities';

export class OperatorPage {
  private constructor(
    private readonly page: Page,
    private readonly workflows: string,
  ) {}

  /** @param codec what the browser shows at the codec server's door: the token that somebody's log-in would bring */
  static async open(
    browser: Browser,
    uiUrl: string,
    namespace: string,
    codec?: { url: string; token: string },
  ): Promise<OperatorPage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    if (codec) {
      await page.route(`${codec.url}/**`, (route) =>
        route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${codec.token}` } }),
      );
    }
    // Above what a busy machine needs, below what jest allows a test: so that the step which waits is named.
    page.setDefaultTimeout(45_000);
    return new OperatorPage(page, `${uiUrl}/namespaces/${namespace}/workflows`);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** Follows a deep link to the list. */
  async list(query: string): Promise<void> {
    await this.page.goto(`${this.workflows}?query=${encodeURIComponent(query)}`);
    await this.page
      .getByRole('button', { name: 'Start Workflow' })
      .or(this.page.getByTestId('start-workflow-button'))
      .first()
      .waitFor();
  }

  /** The workflow ids in the list, once one is among them: what has just changed takes a moment to show. */
  async listed(query: string, workflowId: string): Promise<string[]> {
    const links = this.page.locator('table a[href*="/workflows/"]', { hasText: '/' });
    for (;;) {
      await this.list(query);
      try {
        await this.page.getByRole('link', { name: workflowId, exact: true }).waitFor({ timeout: 3_000 });
        return await links.allInnerTexts();
      } catch {
        // Asked again, until jest says that it took too long.
      }
    }
  }

  /** Opens a run from the list. */
  async openListed(workflowId: string): Promise<void> {
    await this.page.getByRole('link', { name: workflowId, exact: true }).click();
    await this.heading(workflowId).waitFor();
  }

  /** Opens a run by its address. */
  async openRun(workflowId: string, runId: string): Promise<void> {
    // The page that is left may still go on to another one by itself.
    await until(async () => {
      await this.page.goto(`${this.workflows}/${encodeURIComponent(workflowId)}/${runId}/history`);
      return this.heading(workflowId)
        .waitFor({ timeout: 10_000 })
        .then(() => true)
        .catch(() => false);
    });
  }

  async tab(tab: Tab): Promise<void> {
    await this.page.getByTestId(`${tab}-tab`).click();
  }

  /** Waits until the page says so of the run, beside its id: Running, Completed, Canceled, Failed, Terminated. */
  async untilStatus(status: string): Promise<void> {
    // Activities further down have a status, too.
    const title = this.page.getByTestId('workflow-id-heading').locator('xpath=../..');
    await title
      .locator('span', { hasText: new RegExp(`^\\s*${status}\\s*$`) })
      .first()
      .waitFor();
  }

  /** The text of *Current Details*, once it holds what is expected. */
  async currentDetails(expected: string | RegExp): Promise<string> {
    await this.tab('user-metadata');
    const frame = this.detailsFrame();
    await frame.getByText(expected).first().waitFor();
    return frame.locator('body').innerText();
  }

  /** The data of that decision in *Current Details*, to be pasted. */
  async toPaste(name: string): Promise<Record<string, unknown>> {
    const frame = this.detailsFrame();
    const choice = frame.locator('li').filter({ has: frame.locator('strong', { hasText: new RegExp(`^${name}$`) }) });
    return JSON.parse(await choice.locator('code').innerText()) as Record<string, unknown>;
  }

  /** True if all of *Current Details* shows, without scrolling in its frame. */
  async detailsFit(): Promise<boolean> {
    const frame = this.detailsFrame();
    const last = frame.locator('p').filter({ hasText: /\S/ }).last();
    const box = await last.boundingBox();
    const outer = await frame.owner().boundingBox();
    return box !== null && outer !== null && box.y + box.height <= outer.y + outer.height;
  }

  /** True if nobody has to scroll for the decisions. */
  async choicesShow(): Promise<boolean> {
    const box = await this.detailsFrame().locator('li').last().boundingBox();
    return box !== null && box.y + box.height <= (this.page.viewportSize()?.height ?? 0);
  }

  private detailsFrame(): FrameLocator {
    // The summary and the details of the start stand in frames before it.
    return this.page.frameLocator('iframe >> nth=-1');
  }

  /** More Actions → Send an Update, up to but not including Submit. */
  async prepareUpdate(name: string, json: string): Promise<void> {
    await this.chooseAction('update-button');
    const dialog = this.dialog();
    await dialog.getByTestId('update-select-button').click();
    await dialog.getByRole('option', { name: new RegExp(`^${name}\\s`) }).click();
    await this.fillJson(dialog, json);
  }

  /** Writes other data into the dialog that is open. */
  async writeData(json: string): Promise<void> {
    await this.fillJson(this.dialog(), json);
  }

  /** Presses Submit. @returns undefined when it is taken; else the refusal that the dialog shows */
  async submitUpdate(): Promise<string | undefined> {
    const dialog = this.dialog();
    await dialog.getByTestId('confirm-modal-button').click();
    const alert = dialog.getByRole('alert').filter({ hasText: /\S/ });
    const taken = this.page.getByText('Update successful').first();
    await alert.or(taken).first().waitFor();
    return (await taken.isVisible()) ? undefined : (await alert.innerText()).trim();
  }

  /** @returns undefined when it is taken; else the refusal that the dialog shows */
  async sendUpdate(name: string, json: string): Promise<string | undefined> {
    await this.prepareUpdate(name, json);
    return this.submitUpdate();
  }

  async requestCancellation(): Promise<void> {
    await this.page.getByRole('button', { name: 'Request Cancellation' }).filter({ visible: true }).click();
    await this.dialog().getByTestId('confirm-modal-button').click();
    await this.dialog().waitFor({ state: 'detached' });
  }

  /** Reset, with the first workflow task chosen and the reason written; Confirm is not pressed yet. */
  async prepareResetToBeginning(reason: string): Promise<void> {
    const button = this.page.getByRole('button', { name: 'Reset', exact: true }).filter({ visible: true });
    const more = this.page.getByRole('button', { name: 'Request Cancellation' }).filter({ visible: true });
    await button.or(more).first().waitFor();
    if (await more.isVisible()) await this.chooseAction('reset-button');
    else await button.click();
    const dialog = this.dialog();
    await dialog.getByTestId('workflow-reset-event-id-select-button').click();
    await dialog.getByRole('option').first().click();
    await dialog.getByTestId('reset-reason').fill(reason);
  }

  /** @returns once the page says that the run has been reset */
  async confirmReset(): Promise<void> {
    await this.dialog().getByTestId('confirm-modal-button').click();
    await this.page
      .getByText(/has been reset/)
      .first()
      .waitFor();
  }

  /** Start Workflow, filled in but not yet started. */
  async prepareStart({ workflowId, type, json }: { workflowId: string; type: string; json: string }): Promise<void> {
    await this.page.goto(`${this.workflows}/start-workflow`);
    await this.page.getByTestId('workflowId').fill(workflowId);
    await this.page.getByTestId('taskQueue').fill('order-saga');
    await this.page.getByTestId('workflowType').fill(type);
    await this.fillJson(this.page.locator('main'), json);
  }

  async start(): Promise<void> {
    await this.page.locator('main').getByTestId('start-workflow-button').filter({ visible: true }).click();
    await this.page
      .getByText(/Workflow started|started successfully/i)
      .first()
      .waitFor();
  }

  /** The answer of the `progress` query in the Queries tab, once it holds what is expected. */
  async progress(expected: RegExp): Promise<string> {
    await this.tab('queries');
    const result = this.page.getByTestId('query-result');
    for (;;) {
      await this.page.getByRole('button', { name: /Run Query|Refresh Query/ }).click();
      await result.getByText('"reference"').waitFor();
      // Only the lines in sight are drawn.
      await result.evaluate((element: Scrollable) => {
        element.scrollIntoView({ block: 'end' });
      });
      try {
        await result.getByText(expected).first().waitFor({ timeout: 3_000 });
        return await result.innerText();
      } catch {
        // Not yet: a signal is taken in the moment after it was sent.
        await this.page.getByTestId('queries-tab').scrollIntoViewIfNeeded();
      }
    }
  }

  /** Waits until the page shows a text anywhere. */
  async untilShown(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** Everything that can be read on the page, in its frames and fields too. */
  async allText(): Promise<string> {
    const texts = await Promise.all(this.page.frames().map((frame) => frame.locator('body').innerText()));
    return texts.join('\n');
  }

  async runsShownOn(): Promise<string> {
    return this.page.locator('main').innerText();
  }

  /**
   * A picture for `docs/operating.md`; only where ORDER_SAGA_PICTURES=1 asks for them. Without the bars of the page,
   * which show nothing but the test's namespace.
   */
  async picture(name: string): Promise<void> {
    if (process.env['ORDER_SAGA_PICTURES'] !== '1') return;
    await this.page.mouse.move(0, 0);
    await mkdir(picturesFolder, { recursive: true });
    await this.page.screenshot({
      path: join(picturesFolder, `${name}.png`),
      animations: 'disabled',
      clip: { x: 64, y: 50, width: 1216, height: 750 },
    });
  }

  private heading(workflowId: string): Locator {
    return this.page.getByTestId('workflow-id-heading').filter({ hasText: workflowId });
  }

  private dialog(): Locator {
    return this.page.locator('dialog[open]');
  }

  private async chooseAction(testId: string): Promise<void> {
    await this.page.getByRole('button', { name: 'More Actions' }).filter({ visible: true }).click();
    await this.page.getByTestId(testId).filter({ visible: true }).click();
    await this.dialog().waitFor();
  }

  /** The editor reformats when it is left, and moves the buttons below it: it is left before any is pressed. */
  private async fillJson(within: Locator, json: string): Promise<void> {
    const editor = within
      .locator('[role=textbox][contenteditable=true][data-language=json]')
      .filter({ visible: true })
      .first();
    await editor.fill(json);
    await editor.blur();
  }
}
