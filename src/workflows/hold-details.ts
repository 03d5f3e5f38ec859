/** What the Web UI shows of a hold that is on, and what to press. */
import { plainMarkdown } from '../domain/markdown';
import { describeProbing, type Probing } from '../domain/hold';

/** Longer than any "held since … by …" with a note of some sentences. */
const wordsCharsMax = 600;

export const releaseExample = '{"by":"you"}';

/** @param inWords "held since … by …" */
export function describeOpenHold(inWords: string, probing: Probing | undefined): string {
  return [
    `### New sagas are ${plainMarkdown(inWords, wordsCharsMax)}`,
    ...(probing ? [describeProbes(probing)] : []),
    'Those under way go on. To let the held ones begin, press **More Actions**, then **Send an Update**, choose **release** and paste:',
    `\`${releaseExample}\``,
    'They begin 20 per second; `"perSecond":1` makes it one. **Request Cancellation** does the same. Do not use **Terminate**: it ends the hold, but the held sagas are not signalled.\n\n\u00a0',
  ].join('\n\n');
}

function describeProbes(probing: Probing): string {
  return (
    `**It ends by itself when the provider answers again.** Now and then a few of the held sagas are let go as a probe: ${describeProbing(probing)}. ` +
    'To hold until you release it, send the update **keep**: `{"by":"you","note":"why"}`.'
  );
}
