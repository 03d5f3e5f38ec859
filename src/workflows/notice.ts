/**
 * The notice that an operator reads in the Web UI's *User Metadata* tab: markdown, the decision first and ready to paste
 * (the frame there hides what comes last), under 2 KB (it travels in an address).
 */
import { decisionHints } from '../domain/decisions';
import type { Question } from './desk';

const excerptMax = 300;
const noticeMax = 1_900;

export function describeWait(
  { kind, question, choices, lastFailure, correction, step }: Question,
  since: string,
): string {
  const decisions = choices.map((name) => {
    const { does, example } = decisionHints[name];
    return `- **${name}** — ${does}:\n\n  \`${example}\``;
  });
  const lines = [
    `### ${question.slice(0, 600)}`,
    '**More Actions → Send an Update**, then one of:',
    ...decisions,
    '- or **Request Cancellation**',
    ...(correction
      ? [`With *retry* may be corrected: ${correction.fields.map((field) => `\`${field}\``).join(', ')}`]
      : []),
    ...(lastFailure ? [`Last failure: ${lastFailure.failure}. ${lastFailure.message.slice(0, excerptMax)}`] : []),
    `Waits as *${kind}* at \`${step}\` since ${since}.`,
  ];
  return lines.join('\n\n').slice(0, noticeMax);
}
