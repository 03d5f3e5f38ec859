/** Figures at each position of one axis. */
export interface Growth {
  /** Of the picture's file. */
  name: string;
  title: string;
  axis: string;
  points: { at: number; figures: Record<string, number | undefined> }[];
  /** Which of the figures are drawn. */
  drawn: readonly string[];
}
