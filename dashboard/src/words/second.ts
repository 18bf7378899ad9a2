// Sentences about a second recording that is served to programs.

/** The last part of its path. */
function nameOf(folder: string): string {
  return folder.replace(/\/+$/, "").replace(/^.*\//, "");
}

/** Its name, and who receives it. */
export function secondWords(folder: string): string {
  return `programs also receive ${nameOf(folder)}`;
}

export function secondSentence(folder: string): string {
  return `Programs that connect also receive the recording ${nameOf(folder)}, on the clock of this run. This page shows the first recording. mpiscope compare with --open shows what changed between the two.`;
}
