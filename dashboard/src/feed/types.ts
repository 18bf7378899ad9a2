// Written from daemon/feed by `MPISCOPE_WRITE=1 cargo test -p mpiscope-feed types`; not to be edited.
// Columns are blobs, little-endian, of 32-bit whole numbers or 64-bit floating-point ones: daemon/feed says which.

export type U32Column = Uint8Array;

export type F64Column = Uint8Array;

export type RunSource = "live" | "replay";

export type JobState = "waiting" | "running" | "ended" | "killed";

export type Job = { 
/**
 * The name of the run, unique on this machine.
 */
run: string, 
/**
 * Where the figures come from.
 */
source: RunSource, 
/**
 * The command as typed; empty when it is not known.
 */
command: string, 
/**
 * Hosts heard so far.
 */
nodes: number, 
/**
 * Ranks in the job; 0 until known.
 */
ranks: number, 
/**
 * The MPI library, in one line; empty until known.
 */
mpi: string, 
/**
 * How it stands.
 */
state: JobState, 
/**
 * The exit status of the command once it returned; 128 + the signal when killed.
 */
exit: number | null, 
/**
 * Wall clock time of the start of the run (nanoseconds since 1970); 0 until known.
 */
started_unix_ns: number, 
/**
 * The folder of a second recording that programs receive on the clock of this one; empty where there is none.
 */
second: string, };

export type Kind = "snapshot" | "delta";

export type Clock = { 
/**
 * The run time.
 */
now_ns: number, 
/**
 * How far the figures are behind the job.
 */
lag_ns: number, };

export type Totals = { calls: number, polls: number, messages: number, bytes: number, intra_messages: number, inter_messages: number, unmatched_sends: number, unmatched_receives: number, uncertain_messages: number, };

export type Losses = { ring_full: number, no_ring: number, unreadable: number, unsaved: number, };

export type Fault = { 
/**
 * Whose input, when known.
 */
rank: number | null, 
/**
 * The run time at which it was reported.
 */
at_ns: number, 
/**
 * One sentence.
 */
text: string, };

export type Faults = { 
/**
 * How many there were.
 */
count: number, 
/**
 * The newest of them, oldest first.
 */
newest: Array<Fault>, };

export type Functions = { id: U32Column, name: Array<string>, family: Array<string>, calls: F64Column, polls: F64Column, bytes: F64Column, time_ns: F64Column, p50_ns: F64Column, p99_ns: F64Column, max_ns: F64Column, };

export type Ranks = { rank: U32Column, node: U32Column, calls: F64Column, sent: F64Column, received: F64Column, bytes_sent: F64Column, mpi_time_ns: F64Column, run_ns: F64Column, wait_ns: F64Column, involuntary: F64Column, 
/**
 * 0 running, 1 finalized, 2 aborted, 3 vanished, 4 silent.
 */
state: U32Column, ended_ns: F64Column, };

export type Nodes = { node: U32Column, name: Array<string>, 
/**
 * Infinite while it is not known.
 */
clock_uncertainty_ns: F64Column, 
/**
 * 0 connected, 1 silent.
 */
state: U32Column, 
/**
 * Ranks that share its CPUs; 0 while that is not known, as in the next two.
 */
ranks: U32Column, 
/**
 * CPUs that are online.
 */
cpus_on_host: U32Column, 
/**
 * Those that affinities and quotas leave to its ranks.
 */
cpus_usable: F64Column, 
/**
 * 1 where each rank is bound to a part of them.
 */
bound: U32Column, };

export type TimelineCells = { 
/**
 * How long each window is; doubles whenever the history is full.
 */
window_ns: number, 
/**
 * When it begins.
 */
start_ns: F64Column, 
/**
 * The function.
 */
function: U32Column, 
/**
 * Rows of calls.
 */
calls: F64Column, };

export type InFlight = { 
/**
 * How many there are; not all may be listed.
 */
total: number, 
/**
 * Who called.
 */
rank: U32Column, 
/**
 * Which of its threads.
 */
thread: U32Column, 
/**
 * What was called.
 */
function: U32Column, 
/**
 * When it was entered.
 */
since_ns: F64Column, };

export type By = { 
/**
 * With time waiting for a CPU.
 */
compute: number, base: number, distance: number, excess: number, operation: number, other: number, unknown: number, 
/**
 * Of `compute`, the time in which those who were waited for had no CPU.
 */
no_core: number, };

export type Parts = { waiting_s: number, base_s: number, 
/**
 * With what the advised placement would save.
 */
distance_s: number, excess_s: number, operation_s: number, other_s: number, unknown_s: number, total_s: number, waiting_by: By, 
/**
 * Of the distance, in waiting too, what the advised placement would save.
 */
distance_saved_s: number, 
/**
 * Of the excess, in waiting too, what was within nodes.
 */
excess_inside_s: number, 
/**
 * Of `other_s`, the time in which ranks waited for a CPU inside MPI; 0 in older recordings.
 */
cpu_wait_s: number, };

export type Efficiency = { 
/**
 * Computing, of all the ranks' time.
 */
parallel: number, 
/**
 * How evenly it is spread.
 */
load_balance: number, 
/**
 * What the rank that computes most does of the run's time.
 */
communication: number, 
/**
 * What the run would take if nothing had to be transferred, of what it takes.
 */
transfer: number, 
/**
 * What is left of that because ranks wait for each other.
 */
serialization: number, };

export type Wait = { 
/**
 * The known name.
 */
state: string, 
/**
 * The function that was waited in.
 */
function: string, 
/**
 * Called from where: a number of the table of call sites.
 */
site: number | null, 
/**
 * The same in words; empty where it is not known.
 */
place: string, 
/**
 * Who waited.
 */
waiter: number, 
/**
 * For whom.
 */
awaited: number, 
/**
 * How many times.
 */
times: number, 
/**
 * How long.
 */
seconds: number, 
/**
 * The longest of them.
 */
longest_s: number, 
/**
 * When the call began in which it was, in run time: there is what it looks like.
 */
longest_at_s: number, };

export type GatheredWait = { 
/**
 * The known name.
 */
state: string, 
/**
 * The function that was waited in.
 */
function: string, 
/**
 * A number of the table of call sites.
 */
site: number | null, 
/**
 * The place in words; empty where it is not known.
 */
place: string, 
/**
 * How many ranks waited.
 */
waiters: number, 
/**
 * For how many.
 */
awaited: number, 
/**
 * For whom the longest.
 */
most_awaited: number, 
/**
 * Of the seconds, those for that rank.
 */
most_awaited_s: number, 
/**
 * How many times.
 */
times: number, 
/**
 * How long.
 */
seconds: number, };

export type SiteWait = { 
/**
 * A number of the table of call sites; none for all calls without a known one.
 */
site: number | null, 
/**
 * The place in words; empty where it is not known.
 */
place: string, 
/**
 * How long.
 */
seconds: number, 
/**
 * By what kept those who were waited for.
 */
by: By, };

export type Source = { 
/**
 * The cause: `pattern` or `cpu`.
 */
cause: string, 
/**
 * What ranks did too much while others waited for it, or waited for a CPU, in seconds.
 */
total_s: number, 
/**
 * The ranks that make up most of it, where they are at most half of all and the same all the time, in order.
 */
few: Array<number>, 
/**
 * What these have of it, in seconds.
 */
few_s: number, 
/**
 * These are all ranks of this number of nodes, and no others; 0 where they are not, or nodes have one rank each.
 */
few_nodes: number, 
/**
 * The hosts that these run on, where the job has several; empty if they are more than four, or not known.
 */
few_hosts: Array<string>, 
/**
 * The ranks with the most of it, the first of them.
 */
ranks: Array<SourceRank>, 
/**
 * What ranks computed on average.
 */
computed_s: number, 
/**
 * Who had the most of it when, where that moves from rank to rank; else nothing.
 */
times: Array<SourceTime>, 
/**
 * Whether it is with other ranks in each step of the program.
 */
differs_by_step: boolean, };

export type SourceRank = { 
/**
 * Which.
 */
rank: number, 
/**
 * How much it did too much, or waited for a CPU.
 */
seconds: number, 
/**
 * What it computed in all.
 */
computed_s: number, };

export type SourceTime = { 
/**
 * Its beginning.
 */
from_s: number, 
/**
 * Its end.
 */
to_s: number, 
/**
 * The ranks with the most, the first of them.
 */
ranks: Array<number>, };

export type Advised = { 
/**
 * The number of ranks that would be on another node.
 */
moved: number, 
/**
 * Messages between nodes as it is.
 */
inter_messages: number, 
/**
 * As it would be.
 */
inter_messages_after: number, 
/**
 * All messages.
 */
messages: number, };

export type Attribution = { 
/**
 * Its beginning.
 */
from_s: number, 
/**
 * Its end.
 */
to_s: number, 
/**
 * None: the whole job.
 */
region: number | null, 
/**
 * The cause: `mapping`, `pattern`, `background`, `cpu` or `none`.
 */
cause: string, 
/**
 * What it costs.
 */
avoidable_s: number, 
/**
 * How sure that is, from 0 to 1.
 */
confidence: number, 
/**
 * Places in `waits`: who was waited for most in the run.
 */
evidence: Array<number>, };

export type Quiet = { 
/**
 * Its beginning.
 */
from_s: number, 
/**
 * Its end.
 */
to_s: number, 
/**
 * Whether it was.
 */
is_quiet: boolean, 
/**
 * How many times as long messages between nodes took as when it was quietest, or collectives where there were none.
 */
slower: number, };

export type Disturbance = { 
/**
 * The cause: `mapping`, `pattern`, `background` or `cpu`.
 */
cause: string, 
/**
 * Its beginning.
 */
from_s: number, 
/**
 * Its end.
 */
to_s: number, };

export type Verdict = { 
/**
 * The cause: `mapping`, `pattern`, `background`, `cpu` or `none`.
 */
cause: string, 
/**
 * What it costs.
 */
avoidable_s: number, 
/**
 * By how much the run would be shorter, in seconds.
 */
avoidable_wall_s: number, 
/**
 * Much of what ranks waited for is not known: it may well be more.
 */
is_at_least: boolean, 
/**
 * What it costs, as a share of the ranks' time.
 */
share: number, 
/**
 * How sure it is, from 0 to 1.
 */
confidence: number, 
/**
 * What each cause costs that could be avoided, the most first.
 */
causes: Array<[string, number]>, 
/**
 * What keeps it from being surer, a sentence each.
 */
remarks: Array<string>, 
/**
 * Set if there is no verdict because so large a share of the calls was lost.
 */
lost_share: number, 
/**
 * How much of the run the recording supports a verdict on.
 */
basis: Basis, };

export type Basis = { 
/**
 * How much.
 */
state: BasisState, 
/**
 * The share of the calls that were made and are not recorded.
 */
missing_share: number, 
/**
 * The end of what was recorded, where the run went on or was cut off.
 */
until_s: number | null, 
/**
 * What is missing, to read before the verdict; empty if nothing is.
 */
sentence: string, };

export type BasisState = "whole" | "part" | "hung" | "lost" | "unseen";

export type CpuContention = { 
/**
 * The number of ranks with figures.
 */
ranks: number, 
/**
 * The CPUs they had on average, all together.
 */
cpus: number, 
/**
 * How many they may use; null if not known, or in recordings of before that was recorded.
 */
usable: number | null, 
/**
 * How many share a CPU on the node with the most of them; null likewise.
 */
per_cpu: number | null, 
/**
 * The share of their runnable time they waited for a CPU, from 0 to 1.
 */
waited: number, 
/**
 * The rank with the largest share.
 */
most_rank: number, 
/**
 * The share of that rank.
 */
most_waited: number, };

export type StoppedRank = { 
/**
 * The rank.
 */
rank: number, 
/**
 * How long, in seconds.
 */
seconds: number, };

export type BlockedRank = { 
/**
 * The rank.
 */
rank: number, 
/**
 * Its host, where the job has several; empty if not known.
 */
host: string, 
/**
 * How long, in seconds.
 */
seconds: number, 
/**
 * Its major page faults: pages that had to be read from a disk, a network file system, or swap.
 */
major_faults: number, };

export type SlowLink = { 
/**
 * The ranks of the node that sends.
 */
from: Array<number>, 
/**
 * The ranks of the node that receives.
 */
to: Array<number>, 
/**
 * The host that sends; empty if not known.
 */
from_host: string, 
/**
 * The host that receives; likewise.
 */
to_host: string, 
/**
 * Messages that say so.
 */
messages: number, 
/**
 * How many times as long as was measured before they take.
 */
slower: number, };

export type SlowLinks = { 
/**
 * Those with enough messages to say; none where messages were not measured before.
 */
known: number, 
/**
 * How many of them are slow.
 */
slow: number, 
/**
 * Those that cost most, that which costs most first.
 */
worst: Array<SlowLink>, };

export type Stopped = { 
/**
 * How many.
 */
count: number, 
/**
 * Those with the longest times, the longest first.
 */
longest: Array<StoppedRank>, };

export type Blocked = { 
/**
 * How many.
 */
count: number, 
/**
 * The one that was blocked longest.
 */
longest: BlockedRank | null, };

export type Without = { 
/**
 * Words of `mapping`, `pattern`, `background` and `cpu`.
 */
causes: Array<string>, 
/**
 * In seconds.
 */
run_s: number, 
/**
 * At least.
 */
least_s: number, 
/**
 * At most.
 */
most_s: number, };

export type WhatIf = { 
/**
 * The recorded time from the first call to the last; 0 if the run was not replayed.
 */
recorded_s: number, 
/**
 * An entry for each set of causes that cost something.
 */
without: Array<Without>, };

export type Region = { 
/**
 * Its name, the same from one version to the next.
 */
id: number, 
/**
 * Its ranks: the first and the last of each run without a gap.
 */
ranks: Array<[number, number]>, 
/**
 * What its exact messages took for what is usual, in the mean; null where there were none.
 */
latency: number | null, 
/**
 * Messages between its ranks.
 */
messages: number, 
/**
 * Exact messages that took longer than is normal: the 95th percentile of quiet windows.
 */
delayed: number, 
/**
 * Exact messages that took longer than expected (L > 1).
 */
above_expected: number, 
/**
 * The share of its messages that are exact.
 */
exact: number, };

export type Between = { 
/**
 * One of them.
 */
a: number, 
/**
 * The other.
 */
b: number, 
/**
 * As of a region.
 */
latency: number | null, 
/**
 * Messages between the two.
 */
messages: number, 
/**
 * As of a region.
 */
delayed: number, 
/**
 * As of a region.
 */
above_expected: number, 
/**
 * As of a region.
 */
exact: number, };

export type Regions = { 
/**
 * How often they changed until now; 0 where none are known.
 */
version: number, 
/**
 * How many there are; fewer may be listed.
 */
count: number, 
/**
 * Whether collectives were counted too, because they move most of the bytes.
 */
with_collectives: boolean, 
/**
 * In the order of their first ranks.
 */
regions: Array<Region>, 
/**
 * Pairs of them that exchanged messages, those with the most first.
 */
between: Array<Between>, };

export type Diagnosis = { 
/**
 * Where time in MPI went.
 */
budget: Parts, 
/**
 * The figures by which programs are compared.
 */
efficiency: Efficiency, 
/**
 * Who waited for whom, the longest first.
 */
waits: Array<Wait>, 
/**
 * The same by kind, function and place, whoever it was; the longest first.
 */
gathered: Array<GatheredWait>, 
/**
 * The waiting by call site, the longest first.
 */
sites: Array<SiteWait>, 
/**
 * From which ranks it comes, for causes that lie with ranks.
 */
sources: Array<Source>, 
/**
 * What the advised placement does; none where ranks are placed as well as they can be, as far as that is known.
 */
advised: Advised | null, 
/**
 * What messages take within nodes, or between them, is not known: nobody knows what distance costs.
 */
is_distance_unknown: boolean, 
/**
 * Stretches of the run, in order.
 */
attribution: Array<Attribution>, 
/**
 * When the network was quiet and when not, in order; empty where too little was seen.
 */
quiet: Array<Quiet>, 
/**
 * When each cause is to blame, in order: the times that the verdict, the report and all views show.
 */
disturbances: Array<Disturbance>, 
/**
 * The verdict on all of it.
 */
verdict: Verdict, 
/**
 * Set if ranks had too few CPUs, even if more would save no time.
 */
cpu_shortage: CpuContention | null, 
/**
 * Ranks that a signal or a debugger stopped.
 */
stopped: Stopped, 
/**
 * Ranks that the kernel blocked: on a disk, a network file system, or swapped memory.
 */
blocked: Blocked, 
/**
 * Links on which messages take longer throughout than was measured before.
 */
slow_links: SlowLinks, 
/**
 * What the run would take without its causes.
 */
whatif: WhatIf, 
/**
 * Ranks that talk mostly among themselves.
 */
regions: Regions, };

export type Pairs = { 
/**
 * The range.
 */
from_ns: number, 
/**
 * Its end, outside.
 */
to_ns: number, 
/**
 * Who sent.
 */
src: U32Column, 
/**
 * Who received.
 */
dst: U32Column, 
/**
 * Messages that arrived in the range.
 */
messages: F64Column, 
/**
 * Their bytes.
 */
bytes: F64Column, 
/**
 * Those with an exact transfer time, where the expected one is known.
 */
exact: F64Column, 
/**
 * How many times as long as usual those took, in the mean; not a number without any.
 */
latency: F64Column, 
/**
 * Messages of pairs that are not here.
 */
left_out: number, };

export type Points = { 
/**
 * Where it begins, in seconds.
 */
time_s: Array<number>, 
/**
 * How many times as long as usual its exact messages took on average; 0 without any.
 */
latency: Array<number>, 
/**
 * The average latency of all messages up to its end; 0 where it is not final.
 */
average: Array<number>, 
/**
 * Its messages.
 */
messages: Array<number>, 
/**
 * Of them, those whose time is known exactly.
 */
exact: Array<number>, 
/**
 * Of the exact ones, those that took longer than is normal.
 */
delayed: Array<number>, 
/**
 * Of the exact ones, those that took longer than expected (L > 1).
 */
above_expected: Array<number>, 
/**
 * The version of the regions that it was accounted under.
 */
version: Array<number>, };

export type Bands = { 
/**
 * How long a slot is, in seconds.
 */
width_s: number, 
/**
 * Where it begins, in seconds.
 */
time_s: Array<number>, 
/**
 * The mean L of its exact messages.
 */
latency: Array<number>, 
/**
 * 10 % of them had at most this L, to 5 %.
 */
p10: Array<number>, 
/**
 * Half of them.
 */
p50: Array<number>, 
/**
 * 90 %.
 */
p90: Array<number>, 
/**
 * How many exact messages there are.
 */
exact: Array<number>, };

export type SegmentRow = { 
/**
 * `growth`, `steady` or `rest`.
 */
kind: string, 
/**
 * Where its first window begins.
 */
from_s: number, 
/**
 * Where its last window ends.
 */
to_s: number, 
/**
 * It stays as it is; else it looks like this now.
 */
is_closed: boolean, 
/**
 * Windows in it with exact messages.
 */
windows: number, 
/**
 * All its messages.
 */
messages: number, 
/**
 * Of them, those whose time is known exactly.
 */
exact: number, 
/**
 * Of the exact ones, those that took longer than is normal.
 */
delayed: number, 
/**
 * Of the exact ones, those that took longer than expected (L > 1).
 */
above_expected: number, 
/**
 * How many times as long as usual the exact ones took on average.
 */
latency: number | null, 
/**
 * By what part latency is greater in its end than in its beginning.
 */
rise: number, };

export type RegionCourse = { 
/**
 * Its number, which it keeps.
 */
region: number, 
/**
 * The other one, of two.
 */
other: number | null, 
/**
 * The ranks of a region now: the first and the last of each range. Empty where it is no more, and for two.
 */
ranks: Array<[number, number]>, 
/**
 * Messages in final windows.
 */
messages: number, 
/**
 * Of them, those whose time is known exactly.
 */
exact: number, 
/**
 * Of the exact ones, those that took longer than is normal.
 */
delayed: number, 
/**
 * Of the exact ones, those that took longer than expected (L > 1).
 */
above_expected: number, 
/**
 * How many times as long as usual the exact ones took on average; none without any.
 */
latency: number | null, 
/**
 * Stretches of final windows, in order.
 */
segments: Array<SegmentRow>, 
/**
 * The windows that are kept of them, in order.
 */
points: Points, 
/**
 * Windows that are not final.
 */
provisional: Points, 
/**
 * The whole series at one resolution.
 */
bands: Bands, 
/**
 * Segments that were separate once and are joined now, since there were too many.
 */
joined: number, };

export type Evolution = { 
/**
 * What regions are: `node`, the ranks of each node, while nobody knows better; or `traffic`.
 */
by: string, 
/**
 * The version of the regions.
 */
version: number, 
/**
 * How long a window is, in seconds.
 */
window_s: number, 
/**
 * Up to where windows are final.
 */
final_s: number, 
/**
 * Delayed messages took longer than the 95th percentile of quiet windows; without it, longer than expected.
 */
has_normal: boolean, 
/**
 * The regions that most was received in, in order of their numbers.
 */
regions: Array<RegionCourse>, 
/**
 * Pairs of regions that exchanged most, likewise.
 */
links: Array<RegionCourse>, 
/**
 * Messages within regions that are not named here, and between such.
 */
other_messages: [number, number], };

export type Pending = { 
/**
 * The regions, in order.
 */
region: Array<number>, 
/**
 * How many calls.
 */
calls: Array<number>, 
/**
 * When the first of them was entered.
 */
since_ns: Array<number>, 
/**
 * How long they have taken so far, in all.
 */
total_ns: Array<number>, };

export type HangKind = "deadlock" | "gone" | "waits";

export type HangSentence = { 
/**
 * The sentence.
 */
text: string, 
/**
 * Ranks, some of them where there are many.
 */
ranks: Array<number>, };

export type HangRoot = { 
/**
 * Which.
 */
rank: number, 
/**
 * How many wait for it, directly or through others.
 */
waiting: number, };

export type HangCall = { 
/**
 * Whose.
 */
rank: number, 
/**
 * Which of its threads.
 */
thread: number, 
/**
 * The function, and whom its arguments ask for.
 */
call: string, 
/**
 * The call site; empty where that is not known.
 */
place: string, 
/**
 * When it was entered.
 */
since_s: number, 
/**
 * For whom it waits, some of them where there are many.
 */
on: Array<number>, 
/**
 * Whether one of them is enough.
 */
any: boolean, };

export type Hang = { 
/**
 * What it comes to.
 */
kind: HangKind, 
/**
 * Since when.
 */
since_s: number, 
/**
 * When something moved again; none where nothing did.
 */
until_s: number | null, 
/**
 * When it was looked at.
 */
seen_s: number, 
/**
 * What it comes to, a sentence each.
 */
sentences: Array<HangSentence>, 
/**
 * Ranks that wait for ever, as far as is known.
 */
stuck: Array<number>, 
/**
 * Of them those that wait in a circle, each for the next and the last for the first.
 */
circles: Array<Array<number>>, 
/**
 * Those who wait for nobody and are waited for, the one whom most wait for first.
 */
roots: Array<HangRoot>, 
/**
 * The calls that wait, by rank.
 */
calls: Array<HangCall>, 
/**
 * How many there are; not all may be listed.
 */
call_count: number, };

export type Hangs = { 
/**
 * How often the job hung.
 */
count: number, 
/**
 * The newest of these stretches, oldest first.
 */
stills: Array<Hang>, 
/**
 * The calls that ranks were in when their processes ended, by rank.
 */
ended_in: Array<HangCall>, 
/**
 * How many there were; not all may be listed.
 */
ended_in_count: number, };

export type Switch = { 
/**
 * Whether calls are recorded now.
 */
is_on: boolean, 
/**
 * Of how many seconds calls are held back while recording is off, to be recorded once it is on; none where they are not.
 */
held_s: number | null, 
/**
 * Calls that were made while they were not.
 */
unrecorded_calls: number, 
/**
 * Since when they were not, and until when, in seconds; none for to the end or until now.
 */
gaps_s: Array<[number, number | null]>, };

export type FindingsReport = { 
/**
 * The verdict in one sentence.
 */
headline: string, 
/**
 * The ranks that it blames; empty where it names none.
 */
blamed: Array<number>, 
/**
 * What it rests on and how sure it is, a sentence each.
 */
details: Array<string>, 
/**
 * Why another cause costs more than what ranks waited for most; empty where that is the cause.
 */
waiting_note: string, 
/**
 * What to do about it, a sentence each; nothing where there is nothing to do.
 */
actions: Array<string>, 
/**
 * The stretch of run time that was diagnosed.
 */
from_s: number, 
/**
 * Its end.
 */
until_s: number, 
/**
 * Calls before it that were left out, as there were more than could be analysed.
 */
left_out_calls: number, 
/**
 * Whether this is the final diagnosis, of the whole run.
 */
is_final: boolean, 
/**
 * The figures.
 */
judgement: Diagnosis, 
/**
 * How latency went by region.
 */
evolution: Evolution, };

export type CallDurations = { 
/**
 * The range, as far as the run goes.
 */
from_ns: number, 
/**
 * Its end.
 */
to_ns: number, 
/**
 * A duration is in bin `floor(bins_per_octave * log2(1 + ns))`.
 */
bins_per_octave: number, 
/**
 * Bins with calls, in order.
 */
bin: U32Column, 
/**
 * Calls of the selected ranks that begin in the range.
 */
selected: F64Column, 
/**
 * Calls of all ranks in the whole run.
 */
run: F64Column, 
/**
 * The longest of the selected calls that took as long as was asked for, longest first, and how many there are.
 */
longest: Calls, };

export type Calls = { 
/**
 * The range.
 */
from_ns: number, 
/**
 * Its end, outside.
 */
to_ns: number, 
/**
 * How many calls there are.
 */
total: number, 
/**
 * What share of the shorter calls is here.
 */
share: number, 
/**
 * Every call at least so long is here; 0 when all are.
 */
all_from_ns: number, 
/**
 * Who called.
 */
rank: U32Column, 
/**
 * Which of its threads.
 */
thread: U32Column, 
/**
 * What was called.
 */
function: U32Column, 
/**
 * When it was entered.
 */
start_ns: F64Column, 
/**
 * How long it took.
 */
duration_ns: F64Column, 
/**
 * The one other rank; [`NONE`] where there is none or several.
 */
peer: U32Column, 
/**
 * The bits of the tag; [`NO_TAG`] where there is none.
 */
tag: U32Column, 
/**
 * What the call sent, or received where it sent nothing.
 */
bytes: F64Column, 
/**
 * The communicator; [`NONE`] where there is none.
 */
comm: U32Column, 
/**
 * Polls folded into the row, else 1.
 */
count: F64Column, 
/**
 * The call site; [`NONE`] where that is not known.
 */
site: U32Column, };

export type Change = { 
/**
 * B less A.
 */
difference: number, 
/**
 * B for A; null where A is nothing.
 */
ratio: number | null, 
/**
 * More than chance and more than a little: see [`crate::Noise`].
 */
is_change: boolean, };

export type Figure = { 
/**
 * Of A.
 */
a: number | null, 
/**
 * Of B.
 */
b: number | null, 
/**
 * Null where one of them is not known.
 */
change: Change | null, };

export type CountChange = { 
/**
 * B less A.
 */
difference: number, 
/**
 * B for A; null where A is nothing.
 */
ratio: number | null, 
/**
 * As of a figure.
 */
is_change: boolean, };

export type Count = { 
/**
 * Of A.
 */
a: number | null, 
/**
 * Of B.
 */
b: number | null, 
/**
 * Null where one of them is not known.
 */
change: CountChange | null, };

export type WordsChange = { 
/**
 * They are.
 */
is_change: boolean, };

export type Words = { 
/**
 * Of A.
 */
a: string, 
/**
 * Of B.
 */
b: string, 
/**
 * Whether they are others.
 */
change: WordsChange, };

export type Noise = { 
/**
 * The least ratio of the greater value to the other.
 */
ratio: number, 
/**
 * They are at least so far apart: as [`Comparison::basis`] says.
 */
least: number, 
/**
 * And the least multiple of what each run's own stretches let expect.
 */
spreads: number, 
/**
 * What is too seldom to have a spread changes at least by this ratio.
 */
seldom_ratio: number, 
/**
 * From this ratio on, an expected time counts as changed.
 */
median_ratio: number, 
/**
 * All of it in a sentence.
 */
sentence: string, };

export type Side = { 
/**
 * Its folder, as it was named.
 */
folder: string, 
/**
 * The name of the run.
 */
run: string, 
/**
 * `complete`, `incomplete` or `running`.
 */
state: string, 
/**
 * When the run began, in nanoseconds since 1970.
 */
started_unix_ns: number, 
/**
 * The exit status; null when it is not known.
 */
exit: number | null, 
/**
 * Whether it is known where its time went.
 */
is_judged: boolean, 
/**
 * What costs most that could be avoided; null without a diagnosis.
 */
cause: string | null, 
/**
 * The verdict in one sentence; empty without a diagnosis.
 */
headline: string, 
/**
 * What is missing in it, a sentence each.
 */
missing: Array<string>, };

export type JobChange = { ranks: Count, nodes: Count, mpi: Words, command: Words, duration_s: Figure, };

export type TotalsChange = { calls: Count, polls: Count, messages: Count, bytes: Count, intra_messages: Count, inter_messages: Count, unmatched_sends: Count, unmatched_receives: Count, uncertain_messages: Count, lost_calls: Count, clock_violations: Count, };

export type QualityChange = { 
/**
 * How far the clocks of two nodes may be apart.
 */
clock_uncertainty_ns: Count, 
/**
 * Sentences about what is missing.
 */
missing: Count, 
/**
 * Of the time in which ranks could run, the share in which they waited for a CPU.
 */
no_core_share: Figure, };

export type FunctionChange = { 
/**
 * Its number.
 */
id: number, 
/**
 * Its name in C.
 */
name: string, 
/**
 * What it is for, in a word.
 */
family: string, 
/**
 * Rows of calls.
 */
calls: Count, 
/**
 * Polls folded into them.
 */
polls: Count, 
/**
 * Bytes.
 */
bytes: Count, 
/**
 * Time in it, over all threads.
 */
seconds: Figure, 
/**
 * The same of a rank.
 */
of_rank: Figure, 
/**
 * The median duration.
 */
p50_ns: Count, 
/**
 * The duration that 99 of 100 calls stay below.
 */
p99_ns: Count, 
/**
 * The longest.
 */
max_ns: Count, 
/**
 * Ranges of the ranks that the change is on, both ends included; empty where it is on all, or not known.
 */
ranks: Array<[number, number]>, 
/**
 * How it changed, in words; empty where it did not.
 */
why: string, };

export type LinePair = { 
/**
 * In A.
 */
a: number | null, 
/**
 * In B.
 */
b: number | null, };

export type SiteChange = { 
/**
 * The place in words.
 */
place: string, 
/**
 * The function that calls.
 */
function: string | null, 
/**
 * The source file.
 */
file: string | null, 
/**
 * The line.
 */
line: LinePair, 
/**
 * What it calls.
 */
calls_function: string | null, 
/**
 * Rows of calls.
 */
calls: Count, 
/**
 * Time in MPI, over all threads.
 */
seconds: Figure, 
/**
 * The same of a rank.
 */
of_rank: Figure, 
/**
 * Of it, waiting; null without a diagnosis.
 */
waiting_s: Figure, 
/**
 * The same of a rank.
 */
waiting_of_rank: Figure, 
/**
 * How it changed, in words; empty where it did not.
 */
why: string, };

export type CriterionChange = { 
/**
 * `intra` or `inter`.
 */
scope: string, 
/**
 * The first size.
 */
size_from: number, 
/**
 * The first that is not meant any more.
 */
size_to: number, 
/**
 * How many messages it is of.
 */
samples: Count, 
/**
 * What they took.
 */
median_ns: Count, };

export type CollectiveChange = { 
/**
 * Its name.
 */
function: string, 
/**
 * The number of its ranks.
 */
ranks: number, 
/**
 * Its bytes.
 */
bytes: number, 
/**
 * Of the root, where it has a part of its own.
 */
is_root: boolean, 
/**
 * How many it is of.
 */
samples: Count, 
/**
 * What they took.
 */
median_ns: Count, };

export type RegionChange = { 
/**
 * `stayed`, `changed`, `split`, `joined`, `gone` or `new`.
 */
became: string, 
/**
 * Regions of A: one, or those that were joined.
 */
a: Array<number>, 
/**
 * Regions of B: one, or what it was split into.
 */
b: Array<number>, 
/**
 * Ranges of ranks in A, both ends included.
 */
a_ranks: Array<[number, number]>, 
/**
 * In B.
 */
b_ranks: Array<[number, number]>, 
/**
 * Ranks in both, of those in either.
 */
overlap: number, 
/**
 * How late their messages were, where it is one region on both sides.
 */
latency: Figure, 
/**
 * Messages within.
 */
messages: Count, 
/**
 * Of them delayed.
 */
delayed: Count, };

export type ByChange = { compute: Figure, base: Figure, distance: Figure, excess: Figure, operation: Figure, other: Figure, unknown: Figure, 
/**
 * Of `compute`, the time in which those who were waited for had no CPU.
 */
no_core: Figure, 
/**
 * As of the time that is not waited.
 */
transfer: Figure, };

export type BudgetChange = { 
/**
 * Not in MPI, until the last call; not known of threads.
 */
outside: Figure, 
/**
 * After the last call of a rank that makes no more.
 */
finished: Figure, waiting: Figure, base: Figure, distance: Figure, excess: Figure, operation: Figure, other: Figure, unknown: Figure, total: Figure, 
/**
 * `base`, `distance`, `excess`, `operation` and `unknown` together: what is which of them depends on what each run
 * learnt.
 */
transfer: Figure, waiting_by: ByChange, };

export type EfficiencyChange = { parallel: Figure, load_balance: Figure, communication: Figure, transfer: Figure, serialization: Figure, };

export type CauseChange = { 
/**
 * Its name.
 */
cause: string, 
/**
 * What it costs, in seconds of ranks.
 */
avoidable_s: Figure, };

export type VerdictChange = { cause: Words, share: Figure, avoidable_s: Figure, avoidable_wall_s: Figure, confidence: Figure, 
/**
 * What each cause costs that could be avoided, in seconds of ranks.
 */
causes: Array<CauseChange>, };

export type StretchPart = { 
/**
 * The function; null is time outside of MPI.
 */
function: string | null, 
/**
 * B less A, the mean of these ranks.
 */
difference_s: number, 
/**
 * Ranges of ranks, both ends included; empty where it is on all, or not known.
 */
ranks: Array<[number, number]>, };

export type Stretch = { 
/**
 * The name of the phase; empty for turns.
 */
name: string, 
/**
 * The first of them, from 1 on.
 */
first: number, 
/**
 * The last of them.
 */
last: number, 
/**
 * Where the first begins in A.
 */
a_from_ns: number, 
/**
 * Where the last ends in A.
 */
a_to_ns: number, 
/**
 * Where the first begins in B, in B's own time.
 */
b_from_ns: number, 
/**
 * Where the last ends in B, in B's own time.
 */
b_to_ns: number, 
/**
 * How long they took in A.
 */
a_s: number, 
/**
 * How long they took in B.
 */
b_s: number, 
/**
 * B less A.
 */
difference_s: number, 
/**
 * In what the difference was spent, the most first.
 */
parts: Array<StretchPart>, 
/**
 * All of it in a sentence.
 */
sentence: string, };

export type AlignedSection = { 
/**
 * The name of the phase; empty for a turn.
 */
name: string, 
/**
 * Which turn, or which phase of that name, from 1 on.
 */
number: number, 
/**
 * Where it begins in A.
 */
a_from_ns: number, 
/**
 * Where it ends in A.
 */
a_to_ns: number, 
/**
 * Where it begins in B, in B's own time.
 */
b_from_ns: number, 
/**
 * Where it ends in B, in B's own time.
 */
b_to_ns: number, };

export type Alignment = { 
/**
 * `start`, `phase` or `turn`.
 */
by: string, 
/**
 * What was asked for: one of these, or `auto`.
 */
asked: string, 
/**
 * Why, and what was matched, in a sentence.
 */
reason: string, 
/**
 * Turns or phases that both have.
 */
matched: number, 
/**
 * How many A has.
 */
a_count: number, 
/**
 * How many B has.
 */
b_count: number, 
/**
 * Those that are in another order in B; they are not matched.
 */
crossed: number, 
/**
 * The call that marks a turn; null where runs are not aligned by turn.
 */
marker: string | null, 
/**
 * Matched turns or phases that B took longer for, the largest difference first; then those that it took less for.
 */
stretches: Array<Stretch>, 
/**
 * All matched turns or phases, in the order of time. A turn ends where the next one begins; the last one has no end.
 */
sections: Array<AlignedSection>, };

export type Comparison = { 
/**
 * `mpiscope.compare/1`.
 */
schema: string, 
/**
 * The main thing in one sentence.
 */
answer: string, 
/**
 * What limits the comparison, a sentence each.
 */
remarks: Array<string>, 
/**
 * What a figure of a rank is: `seconds`, or `share` of the run where one was cut off.
 */
basis: string, 
/**
 * What separates a change from noise.
 */
noise: Noise, 
/**
 * One recording.
 */
a: Side, 
/**
 * The other.
 */
b: Side, 
/**
 * The job.
 */
job: JobChange, 
/**
 * Counts of the whole job.
 */
totals: TotalsChange, 
/**
 * How well clocks agree, and what else says how good the figures are.
 */
quality: QualityChange, 
/**
 * The functions, the largest change first.
 */
functions: Array<FunctionChange>, 
/**
 * The call sites, the largest change first.
 */
sites: Array<SiteChange>, 
/**
 * Expected transfer times; null where one has no diagnosis, as are all that follow.
 */
criteria: Array<CriterionChange> | null, 
/**
 * The expected times of collectives.
 */
collectives: Array<CollectiveChange> | null, 
/**
 * Ranks that talk mostly among themselves.
 */
regions: Array<RegionChange> | null, 
/**
 * Where time in MPI went, in seconds of threads.
 */
budget: BudgetChange | null, 
/**
 * The same of a rank, in what [`Comparison::basis`] says, with what was spent outside of MPI.
 */
of_rank: BudgetChange | null, 
/**
 * The figures by which programs are compared.
 */
efficiency: EfficiencyChange | null, 
/**
 * The verdicts.
 */
verdict: VerdictChange | null, 
/**
 * Both on one clock, and where B loses time.
 */
alignment: Alignment, };

export type ComparedCourse = { 
/**
 * How long the run took, or lasted until it was cut off.
 */
duration_ns: number, 
/**
 * How long each slot is.
 */
width_ns: number, 
/**
 * How many there are.
 */
slots: number, 
/**
 * The functions, by number.
 */
function: U32Column, 
/**
 * Calls that began, function by function, slot by slot.
 */
calls: F64Column, 
/**
 * Seconds of threads: waiting, base, distance, excess, operation, other, unknown, slot by slot each; empty
 * without a diagnosis.
 */
parts: F64Column, 
/**
 * Seconds of ranks that could be avoided: placement, pattern, network contention, CPU contention; likewise.
 */
avoidable: F64Column, };

export type AlignedCourse = { 
/**
 * `start`, `phase` or `turn`.
 */
by: string, 
/**
 * Whether it is possible.
 */
is_possible: boolean, 
/**
 * What was matched, or why it is not possible, in a sentence.
 */
reason: string, 
/**
 * B on the clock of A; null where it is that of its own, or not possible.
 */
b: ComparedCourse | null, 
/**
 * The edges of the slots of both in B's own time; empty where that is the same.
 */
b_own_ns: F64Column, 
/**
 * Where turns or phases begin in A.
 */
mark_ns: F64Column, 
/**
 * The number or the name of each.
 */
mark_name: Array<string>, 
/**
 * As of [`Alignment::stretches`].
 */
stretches: Array<Stretch>, };

export type Compared = { 
/**
 * The figures.
 */
comparison: Comparison, 
/**
 * Where time went in A as a whole, and in B: as told in their reports.
 */
a: ComparedCourse, 
/**
 * The other.
 */
b: ComparedCourse, 
/**
 * Ways to put B on the clock of A: start, phase, turn.
 */
aligned: Array<AlignedCourse>, };

export type Message = { 
/**
 * [`PROTOCOL`].
 */
protocol: number, 
/**
 * Snapshot or delta.
 */
kind: Kind, 
/**
 * The number of the state that a reader has after this message.
 */
number: number, 
/**
 * Run time and lag.
 */
clock: Clock, 
/**
 * The job.
 */
job?: Job | null, 
/**
 * The totals.
 */
totals?: Totals | null, 
/**
 * What was lost.
 */
losses?: Losses | null, 
/**
 * Faults.
 */
faults?: Faults | null, 
/**
 * Functions.
 */
functions?: Functions | null, 
/**
 * Ranks.
 */
ranks?: Ranks | null, 
/**
 * Hosts.
 */
nodes?: Nodes | null, 
/**
 * Calls by function over time.
 */
timeline?: TimelineCells | null, 
/**
 * Calls that have not returned.
 */
in_flight?: InFlight | null, 
/**
 * The same by region, as far as regions are known.
 */
pending?: Pending | null, 
/**
 * Whether the job hangs or hung, and what it ended in.
 */
standing?: Hangs | null, 
/**
 * Whether calls are recorded, and when they were not.
 */
switch?: Switch | null, 
/**
 * Where time went, and why.
 */
found?: FindingsReport | null, 
/**
 * Calls that ended since the delta before.
 */
calls?: Calls | null, 
/**
 * What changed between two recordings, where that is what is shown; in snapshots only, for it never changes.
 */
compared?: Compared | null, };

export type Mode = "live" | "paused" | "playing";

export type Selection = { 
/**
 * A range of time.
 */
range_ns: [number, number] | null, 
/**
 * Ranges of ranks, both ends included.
 */
ranks: Array<[number, number]> | null, 
/**
 * Functions that are not shown.
 */
hidden: Array<number>, };

export type PerspectiveKind = "perspective";

export type PerspectiveMessage = { 
/**
 * Always `perspective`.
 */
kind: PerspectiveKind, 
/**
 * Grows with every move.
 */
version: number, 
/**
 * Whether it runs.
 */
mode: Mode, 
/**
 * Where it is.
 */
time_ns: number, 
/**
 * Seconds of the run a second, while it plays.
 */
rate: number, 
/**
 * Open pages.
 */
pages: number, 
/**
 * Those that follow.
 */
followers: number, 
/**
 * A range of time.
 */
range_ns: [number, number] | null, 
/**
 * Ranges of ranks, both ends included.
 */
ranks: Array<[number, number]> | null, 
/**
 * Functions that are not shown.
 */
hidden: Array<number>, };

export type AnswerKind = "answer";

export type TimelineBins = { 
/**
 * Where the first bin begins.
 */
from_ns: number, 
/**
 * Where the last one ends.
 */
to_ns: number, 
/**
 * How many there are, all of one length.
 */
bins: number, 
/**
 * The functions that occur.
 */
functions: U32Column, 
/**
 * Their counts, all bins of the first function before those of the second.
 */
counts: F64Column, };

export type RangeCounts = { 
/**
 * The functions that occur.
 */
function: U32Column, 
/**
 * Rows of calls.
 */
calls: F64Column, };

export type History = { 
/**
 * The range.
 */
from_ns: number, 
/**
 * Its end, outside.
 */
to_ns: number, 
/**
 * A duration is in bin `floor(bins_per_octave * log2(1 + ns))`.
 */
bins_per_octave: number, 
/**
 * Ranks that share a row.
 */
ranks_per_row: number, 
/**
 * The first rank of the cell's row.
 */
row: U32Column, 
/**
 * The cell's function.
 */
function: U32Column, 
/**
 * The cell's bin.
 */
bin: U32Column, 
/**
 * Calls in it.
 */
count: F64Column, 
/**
 * Calls in all.
 */
total: number, };

export type RangeBudget = { 
/**
 * The range, as far as it was diagnosed.
 */
from_ns: number, 
/**
 * Its end.
 */
to_ns: number, 
/**
 * How long windows are. Of one that is cut by an end of the range a part counts.
 */
window_ns: number, 
/**
 * Where time in MPI went.
 */
parts: Parts, 
/**
 * What each cause costs that could be avoided, the most first.
 */
causes: Array<[string, number]>, 
/**
 * The verdict on it; null where nobody gives one.
 */
verdict: RangeVerdict | null, };

export type RangeVerdict = { 
/**
 * The cause: `mapping`, `pattern`, `background`, `cpu` or `none`.
 */
cause: string, 
/**
 * By how much the part would be shorter, in seconds.
 */
avoidable_wall_s: number, 
/**
 * The same as a share of the part.
 */
share: number, 
/**
 * How sure it is, from 0 to 1.
 */
confidence: number, 
/**
 * The ranks that the cause comes from; none where it lies with no ranks, or with most of them.
 */
ranks: Array<number>, 
/**
 * All of it in a sentence.
 */
sentence: string, 
/**
 * What shows it, a sentence each.
 */
details: Array<string>, 
/**
 * What to do, a sentence each.
 */
actions: Array<string>, };

export type SelectedFunctions = { 
/**
 * Its number.
 */
function: U32Column, 
/**
 * Rows.
 */
calls: F64Column, 
/**
 * Polls folded into them beyond the rows.
 */
polls: F64Column, 
/**
 * What they sent, or received where they sent nothing.
 */
bytes: F64Column, 
/**
 * Their time in the range.
 */
time_ns: F64Column, 
/**
 * Half of them took at most this long.
 */
p50_ns: F64Column, 
/**
 * 99 of 100 of them took at most this long.
 */
p99_ns: F64Column, 
/**
 * The longest of them.
 */
max_ns: F64Column, };

export type SelectedRanks = { 
/**
 * Its number.
 */
rank: U32Column, 
/**
 * Rows of calls.
 */
calls: F64Column, 
/**
 * Their time in the range, over its threads.
 */
mpi_time_ns: F64Column, 
/**
 * Messages whose send begins in the range.
 */
sent: F64Column, 
/**
 * Messages whose receive ends in the range.
 */
received: F64Column, 
/**
 * Payload of those sent.
 */
bytes_sent: F64Column, };

export type SelectedSizes = { 
/**
 * 0 for empty messages, `n` for those of 2^(n-1) bytes and more, and less than 2^n.
 */
class: U32Column, 
/**
 * Messages.
 */
messages: F64Column, 
/**
 * Their payload.
 */
bytes: F64Column, };

export type SelectedRegions = { 
/**
 * Its name.
 */
id: U32Column, 
/**
 * Messages between its ranks.
 */
messages: F64Column, 
/**
 * Those whose transfer time is exact and for which the expected one is known.
 */
exact: F64Column, 
/**
 * Those of them that took longer than is normal.
 */
delayed: F64Column, 
/**
 * Those of them that took longer than expected (L > 1).
 */
above_expected: F64Column, 
/**
 * Their mean latency ratio; not a number where there are none.
 */
latency: F64Column, };

export type Selected = { 
/**
 * The range, as far as the run goes.
 */
from_ns: number, 
/**
 * Its end.
 */
to_ns: number, 
/**
 * Rows of calls of the selected ranks and functions.
 */
calls: number, 
/**
 * Polls folded into them beyond the rows.
 */
polls: number, 
/**
 * Time of these calls in the range, over all threads.
 */
mpi_time_ns: number, 
/**
 * Messages from or to the selected ranks, of all functions.
 */
messages: number, 
/**
 * Those within nodes.
 */
intra_messages: number, 
/**
 * Those between nodes.
 */
inter_messages: number, 
/**
 * Their payload.
 */
bytes: number, 
/**
 * Each function of the selected ranks, whether it is selected or not.
 */
functions: SelectedFunctions, 
/**
 * Each selected rank, by the selected functions.
 */
ranks: SelectedRanks, 
/**
 * These messages by size class.
 */
sizes: SelectedSizes, 
/**
 * Messages inside each region.
 */
regions: SelectedRegions, 
/**
 * Where time in MPI went, of all functions; null where that is not known.
 */
budget: RangeBudget | null, 
/**
 * Why there is no budget; empty where there is one.
 */
budget_missing: string, };

export type Shares = { 
/**
 * Where the first window begins.
 */
from_ns: number, 
/**
 * How long each is.
 */
width_ns: number, 
/**
 * How many there are.
 */
windows: number, 
/**
 * Until when time was diagnosed.
 */
until_ns: number, 
/**
 * The first rank of the first row.
 */
first_rank: number, 
/**
 * Ranks in a row.
 */
ranks_per_row: number, 
/**
 * How many rows there are.
 */
rows: number, 
/**
 * Nanoseconds of a unit of the columns.
 */
unit_ns: number, 
/**
 * Computing; waiting for a CPU; transfer; other time in MPI; waiting for work, for ranks without a CPU, for the
 * network, for distance, for the rest. By row, then by window, in units; bits of signed numbers.
 */
kinds: Array<U32Column>, };

export type CriticalPath = { 
/**
 * Where the path begins.
 */
from_ns: number, 
/**
 * Where it ends.
 */
to_ns: number, 
/**
 * The rank of each step, by time.
 */
rank: U32Column, 
/**
 * 0 computing, 1 in a call, 2 transfer, 3 collective.
 */
kind: U32Column, 
/**
 * When it begins; it ends where the next begins.
 */
start_ns: F64Column, 
/**
 * The function, of computing the one called next; [`NONE`] where there is none.
 */
function: U32Column, 
/**
 * The call site; [`NONE`] where it is not known.
 */
site: U32Column, 
/**
 * The rank where the path came from, of a transfer or a collective.
 */
other: U32Column, 
/**
 * Whether steps stand for others beside them that are too short to be seen.
 */
is_joined: boolean, 
/**
 * What the path is made of, the most first: kind, function, call site, time, steps. Exact.
 */
part_kind: U32Column, 
/**
 * The function.
 */
part_function: U32Column, 
/**
 * The call site.
 */
part_site: U32Column, 
/**
 * The time.
 */
part_ns: F64Column, 
/**
 * The steps.
 */
part_steps: F64Column, };

export type GroupGraph = { 
/**
 * Where each column begins, and where the last one ends.
 */
edges_ns: F64Column, 
/**
 * Turns of the main loop in each column; 0 where no loop was found and columns are equally long.
 */
turns: U32Column, 
/**
 * How often the loop turned in all.
 */
loop_turns: number, 
/**
 * The call that marks a turn; [`NONE`] where there is none.
 */
loop_function: number, 
/**
 * Its call site.
 */
loop_site: number, 
/**
 * By rank that is shown, its group.
 */
rank: U32Column, 
/**
 * The group.
 */
group: U32Column, 
/**
 * How many groups.
 */
groups: number, 
/**
 * Nodes or regions of each group, as their numbers: the first and the last.
 */
first_key: U32Column, 
/**
 * The last.
 */
last_key: U32Column, 
/**
 * Messages by sender's group, receiver's group and the column in which they were sent.
 */
from: U32Column, 
/**
 * The receiver's group.
 */
to: U32Column, 
/**
 * The column in which they were sent.
 */
column: U32Column, 
/**
 * How many.
 */
messages: F64Column, 
/**
 * Their payload.
 */
bytes: F64Column, 
/**
 * What receivers waited for senders.
 */
waited_ns: F64Column, 
/**
 * The highest latency; not a number where none is known.
 */
worst: F64Column, 
/**
 * The message with that latency, or the longest: sender, receiver, times.
 */
worst_src: U32Column, 
/**
 * Its receiver.
 */
worst_dst: U32Column, 
/**
 * When it was sent.
 */
worst_send_ns: F64Column, 
/**
 * When it was received.
 */
worst_recv_ns: F64Column, 
/**
 * Messages with one side outside of the ranks that are shown.
 */
outside: number, };

export type DagNodes = { 
/**
 * Which rank.
 */
rank: U32Column, 
/**
 * The host where it runs; [`NONE`] where that is not known.
 */
host: U32Column, 
/**
 * How long the longest way is that leads to it.
 */
layer: U32Column, 
/**
 * Its place in its layer.
 */
place: U32Column, 
/**
 * Its first event.
 */
begin_ns: F64Column, 
/**
 * Its last.
 */
end_ns: F64Column, 
/**
 * Messages that it took in.
 */
received: U32Column, 
/**
 * Messages that it sent.
 */
sent: U32Column, 
/**
 * How many nodes follow it: what folding it hides.
 */
following: U32Column, };

export type DagEdges = { 
/**
 * The node that sent.
 */
from: U32Column, 
/**
 * The node that received.
 */
to: U32Column, 
/**
 * How many messages.
 */
messages: U32Column, 
/**
 * Their payload.
 */
bytes: F64Column, };

export type DagRanks = { 
/**
 * Which.
 */
rank: U32Column, 
/**
 * Messages that it sent and received.
 */
messages: F64Column, 
/**
 * How far that is from the mean, in mean deviations; 0 where all are even.
 */
load: F64Column, 
/**
 * How flat its glyph is, 0 to 1.
 */
flatness: F64Column, 
/**
 * The mean of their messages.
 */
mean: number, 
/**
 * Their mean deviation.
 */
deviation: number, };

export type DagBars = { 
/**
 * The node.
 */
node: U32Column, 
/**
 * 1 where it sent the message.
 */
is_sent: U32Column, 
/**
 * The rank at the other end.
 */
other: U32Column, 
/**
 * The payload.
 */
bytes: F64Column, 
/**
 * What it took, as its receiver felt it.
 */
t_msg_ns: F64Column, 
/**
 * That divided by the expected transfer time; not a number where that is not known.
 */
latency: F64Column, 
/**
 * 1 where the time is exact and not an upper bound.
 */
is_exact: U32Column, 
/**
 * When the send's call began.
 */
send_ns: F64Column, 
/**
 * When the call that completed the receive ended.
 */
recv_ns: F64Column, };

export type Dag = { 
/**
 * The range.
 */
from_ns: number, 
/**
 * Its end, outside.
 */
to_ns: number, 
/**
 * Up to where the graph goes: less than the end where it got as large as it may be. All figures are of this stretch.
 */
until_ns: number, 
/**
 * Layers.
 */
layers: number, 
/**
 * Nodes, those of one rank as they follow each other.
 */
nodes: DagNodes, 
/**
 * Edges, by the node that sent; so what follows a node is found by going along them.
 */
edges: DagEdges, 
/**
 * Ranks that sent or received, and how evenly.
 */
ranks: DagRanks, 
/**
 * Ranks that were asked for and neither sent nor received.
 */
isolated: U32Column, 
/**
 * What the glyphs show, node by node: what was taken in, then what was sent.
 */
bars: DagBars, 
/**
 * Messages with at least one side in the graph.
 */
messages: number, 
/**
 * Those with only one side in it: they make no edge.
 */
open: number, 
/**
 * Of them, those that make no edge since by the clocks they would lead back.
 */
contradicted: number, 
/**
 * Messages of the range that are not in the graph, since it is as large as it may be.
 */
left_out: number, 
/**
 * Bars that are not here; of nodes with many those that took longest are.
 */
bars_left_out: number, 
/**
 * Whether expected transfer times are known.
 */
has_criteria: boolean, 
/**
 * Remarks, in sentences.
 */
notes: Array<string>, };

export type ConeRanks = { 
/**
 * Which.
 */
rank: U32Column, 
/**
 * How many of its events.
 */
events: U32Column, 
/**
 * The last of them in a past, the first in a future; not a number where there are none.
 */
edge_ns: F64Column, };

export type ConeMessages = { 
/**
 * Who sent.
 */
src: U32Column, 
/**
 * Who received.
 */
dst: U32Column, 
/**
 * The payload.
 */
bytes: F64Column, 
/**
 * When the send's call began.
 */
send_ns: F64Column, 
/**
 * When the call that completed the receive ended.
 */
recv_ns: F64Column, };

export type Cone = { 
/**
 * The range.
 */
from_ns: number, 
/**
 * Its end, outside.
 */
to_ns: number, 
/**
 * Whether it is what follows.
 */
is_future: boolean, 
/**
 * Whose event.
 */
rank: number, 
/**
 * When it is.
 */
at_ns: number, 
/**
 * What it is: `send`, `receive`, `enter` or `exit`.
 */
event: string, 
/**
 * Where everybody waited for everybody: in the past all before this moment, in the future all from it on.
 */
beyond_ns: number | null, 
/**
 * Events of the range.
 */
events: number, 
/**
 * Those that are part of it.
 */
found: number, 
/**
 * Collectives of the range.
 */
collectives: number, 
/**
 * Receives and returns from collectives that by the clocks would have led to themselves; they are taken as led to by
 * nothing but their own rank.
 */
contradictions: number, 
/**
 * The ranks that have events in the range.
 */
ranks: ConeRanks, 
/**
 * Messages that are part of it, the nearest in time where there are too many.
 */
messages: ConeMessages, 
/**
 * How many there are.
 */
messages_total: number, };

export type PendingGroups = { 
/**
 * Where its ranks begin in the order of all.
 */
place: U32Column, 
/**
 * How many ranks it has.
 */
ranks: U32Column, 
/**
 * The number of its first node or region; the highest number where none is known.
 */
first_key: U32Column, 
/**
 * That of its last.
 */
last_key: U32Column, 
/**
 * Its first rank.
 */
first_rank: U32Column, 
/**
 * Its last.
 */
last_rank: U32Column, 
/**
 * Messages in flight from its ranks.
 */
sent: F64Column, 
/**
 * Messages in flight to them.
 */
received: F64Column, };

export type PendingEdges = { 
/**
 * The group that sent.
 */
from: U32Column, 
/**
 * The group that is to receive.
 */
to: U32Column, 
/**
 * Messages.
 */
messages: F64Column, 
/**
 * Their bytes.
 */
bytes: F64Column, 
/**
 * When the oldest was sent.
 */
since_ns: F64Column, 
/**
 * The sender of the oldest.
 */
src: U32Column, 
/**
 * Its receiver.
 */
dst: U32Column, 
/**
 * Its bytes.
 */
oldest_bytes: F64Column, };

export type PendingMessages = { 
/**
 * The moment: the one that was asked for, or the last that is known.
 */
at_ns: number, 
/**
 * The messages in flight.
 */
messages: number, 
/**
 * Their bytes.
 */
bytes: number, 
/**
 * Of them, those without a receive so far.
 */
unreceived: number, 
/**
 * Sends without a receive that were too many to be kept; null where sends without a receive are not known at all.
 */
left_out_sends: number | null, 
/**
 * Not all rows around the moment were read: what is here is the least that there is.
 */
is_partial: boolean, 
/**
 * The groups of ranks, in the order of their nodes or regions.
 */
groups: PendingGroups, 
/**
 * Pairs of groups with messages in flight: those of the group that was opened last first, then those with the most.
 */
edges: PendingEdges, 
/**
 * The pair with the oldest message, as a place in `edges`; null where nothing is in flight.
 */
oldest: number | null, 
/**
 * Pairs of groups that are not here.
 */
edges_left_out: number, 
/**
 * Their messages.
 */
messages_left_out: number, };

export type MessageRows = { 
/**
 * The range.
 */
from_ns: number, 
/**
 * Its end, outside.
 */
to_ns: number, 
/**
 * How many messages there are.
 */
total: number, 
/**
 * What share of them is here.
 */
share: number, 
/**
 * Who sent.
 */
src: U32Column, 
/**
 * Who received.
 */
dst: U32Column, 
/**
 * The bits of the tag.
 */
tag: U32Column, 
/**
 * The communicator.
 */
comm: U32Column, 
/**
 * The payload.
 */
bytes: F64Column, 
/**
 * When the send's call began.
 */
send_ns: F64Column, 
/**
 * When the call that completed the receive ended.
 */
recv_ns: F64Column, 
/**
 * What it took, as its receiver felt it.
 */
t_msg_ns: F64Column, 
/**
 * How long the receiver waited for the send to begin.
 */
late_sender_ns: F64Column, 
/**
 * How long a synchronous sender waited for the receive to be posted; not a number where that cannot be observed.
 */
late_receiver_ns: F64Column, 
/**
 * What it took, divided by the expected transfer time; not a number where that is not known.
 */
latency: F64Column, 
/**
 * 1 where it went between nodes.
 */
is_inter: U32Column, 
/**
 * 1 where the time is exact and not an upper bound.
 */
is_exact: U32Column, };

export type CourseSizes = { 
/**
 * The least size.
 */
from: number, 
/**
 * The first that is not meant any more.
 */
to: number, 
/**
 * How many there are.
 */
messages: number, 
/**
 * Whether they went between nodes.
 */
is_inter: boolean, };

export type Courses = { 
/**
 * The range.
 */
from_ns: number, 
/**
 * Its end, outside.
 */
to_ns: number, 
/**
 * How long each bin is; the last may reach beyond the range, and has what ended in it.
 */
width_ns: number, 
/**
 * How many there are.
 */
bins: number, 
/**
 * Messages between nodes that ended in each bin.
 */
inter: F64Column, 
/**
 * Messages within nodes.
 */
intra: F64Column, 
/**
 * Bytes of those between nodes.
 */
inter_bytes: F64Column, 
/**
 * Bytes of those within.
 */
intra_bytes: F64Column, 
/**
 * How far ranks are from the mean of the messages that they sent and received, in the mean and in shares of it; of
 * the ranks asked for that did any. Not a number where none did.
 */
uneven: F64Column, 
/**
 * How far the one is that is farthest, in mean distances; 0 where all are even, not a number where none did any.
 */
greatest_load: F64Column, 
/**
 * Which that is; the first of several. [`NONE`] where none did any.
 */
greatest_rank: U32Column, 
/**
 * The sizes with the most messages: of those between nodes, or within where there are none between.
 */
sizes: Array<CourseSizes>, 
/**
 * What messages of each of these sizes took in the mean of a bin, in shares of what they took in the mean of the
 * range, bounds included; all bins of the first size before those of the second. Not a number where there were none.
 */
slow: F64Column, 
/**
 * Of these sizes the one whose bins differ least.
 */
calmest: number | null, 
/**
 * Messages that this is of.
 */
messages: number, 
/**
 * Messages of the range that it is not of, since there are too many ranks.
 */
left_out: number, };

export type FunctionCriterion = { 
/**
 * The function.
 */
function: number, 
/**
 * Its name.
 */
name: string, 
/**
 * The number of its ranks.
 */
ranks: number, 
/**
 * The least of the bytes that are meant.
 */
bytes: number, 
/**
 * Whether it is of the root, where it has a part of its own.
 */
is_root: boolean, 
/**
 * How many it was learnt from.
 */
samples: number, 
/**
 * The median of what they took.
 */
median_ns: number, };

export type Criteria = { 
/**
 * How often they changed until now; 0 where none are known.
 */
version: number, 
/**
 * Whether they are those of the whole run, and not of what is known until now.
 */
is_final: boolean, 
/**
 * 1 where they are of messages between nodes.
 */
is_inter: U32Column, 
/**
 * The first size.
 */
size_from: F64Column, 
/**
 * The first that is not meant any more.
 */
size_to: F64Column, 
/**
 * How many messages it was learnt from.
 */
samples: F64Column, 
/**
 * The median of what they took.
 */
median_ns: F64Column, 
/**
 * Up to this long is normal: the 95th percentile of quiet windows; not a number where that is not known.
 */
normal_ns: F64Column, 
/**
 * Collectives, by function.
 */
functions: Array<FunctionCriterion>, };

export type MetricColumn = { 
/**
 * Its name: seconds, counts, bytes, or a factor.
 */
metric: string, 
/**
 * By rank; not a number where it is not known. Empty where it is known of no rank.
 */
values: F64Column, 
/**
 * Why it is not known, in a sentence; empty where it is.
 */
missing: string, };

export type Phase = { 
/**
 * Its number among communicators.
 */
id: number, 
/**
 * What the program calls it.
 */
name: string, };

export type RankMetrics = { 
/**
 * The range, as far as the run goes.
 */
from_ns: number, 
/**
 * Its end.
 */
to_ns: number, 
/**
 * The whole windows that figures of waiting and causes are of; both 0 where there are none.
 */
judged_from_ns: number, 
/**
 * Their end.
 */
judged_to_ns: number, 
/**
 * How many ranks there are.
 */
ranks: number, 
/**
 * The host of each rank.
 */
host: F64Column, 
/**
 * The phases that the program named until now.
 */
phases: Array<Phase>, 
/**
 * The figures, in the order in which they were asked for.
 */
metrics: Array<MetricColumn>, };

export type LayoutNote = { 
/**
 * The line, from 1.
 */
line: number, 
/**
 * The character of the line, from 1.
 */
column: number, 
/**
 * What is wrong, or what should be known.
 */
text: string, };

export type RankLayout = { 
/**
 * The layout's name as written; empty where there is none.
 */
name: string, 
/**
 * All names in its text or file.
 */
names: Array<string>, 
/**
 * Points of each rank.
 */
points_per_rank: number, 
/**
 * By point, those of rank 0 first; may be no finite numbers.
 */
x: F64Column, 
/**
 * By point.
 */
y: F64Column, 
/**
 * By point.
 */
z: F64Column, 
/**
 * By point: the value that its color shows.
 */
color: F64Column, 
/**
 * Which events it asks for.
 */
events: Array<boolean>, 
/**
 * Whether it was read before its text became wrong.
 */
is_old: boolean, 
/**
 * What keeps layouts of the text from being drawn.
 */
errors: Array<LayoutNote>, 
/**
 * What should be known.
 */
warnings: Array<LayoutNote>, };

export type LayoutItem = { 
/**
 * Its name.
 */
name: string, 
/**
 * What it shows, in a sentence; empty where nobody says.
 */
sentence: string, 
/**
 * Whether it is in the file that the program was given.
 */
is_file: boolean, 
/**
 * Where it is kept: `recording` or `user`; empty for those of the file and those that come with mpiscope.
 */
keeper: string, 
/**
 * Its text; empty for those of the file.
 */
source: string, 
/**
 * Whether this run has all that it asks for.
 */
is_complete: boolean, 
/**
 * Some of its points.
 */
x: F64Column, 
/**
 * By point.
 */
y: F64Column, 
/**
 * By point.
 */
z: F64Column, };

export type Layouts = { 
/**
 * Those that can be drawn; those of the file first.
 */
items: Array<LayoutItem>, 
/**
 * The file that the program was given; empty where it was given none.
 */
file: string, 
/**
 * Its text as it is now.
 */
text: string, 
/**
 * Grows when it changes.
 */
version: number, 
/**
 * What is wrong with it.
 */
errors: Array<LayoutNote>, 
/**
 * Whether layouts can be kept.
 */
has_store: boolean, };

export type Landscape = { 
/**
 * The range, as far as the run goes.
 */
from_ns: number, 
/**
 * Its end.
 */
to_ns: number, 
/**
 * Ranks of a row.
 */
ranks_per_row: number, 
/**
 * How many rows there are.
 */
rows: number, 
/**
 * The functions, the one with the most time first.
 */
function: U32Column, 
/**
 * Mean seconds of a rank, all rows of the first function before those of the second.
 */
seconds: F64Column, };

export type Suggestion = { 
/**
 * The figure; empty where no rank stands out.
 */
metric: string, 
/**
 * The bundled layout.
 */
layout: string, 
/**
 * The ranks that stand out, both ends included; no more than can be selected.
 */
ranks: Array<[number, number]>, 
/**
 * How many stand out.
 */
count: number, 
/**
 * Their mean.
 */
mean: number, 
/**
 * The median of all ranks.
 */
median: number, 
/**
 * The part of the figure's variance that neighbours in the layout have in common.
 */
share: number, 
/**
 * The key of what they are all ranks of, such as `host` or `rack`; empty where they are of no such group.
 */
group: string, 
/**
 * Which of them: names, or numbers where they have none.
 */
members: Array<string>, 
/**
 * Whether they are corners of the program's grid.
 */
is_corners: boolean, };

export type Sites = { 
/**
 * As calls name it.
 */
id: U32Column, 
/**
 * In words, as waits name it.
 */
place: Array<string>, 
/**
 * The place that called the function which this one is in; [`NO_SITE`] where that is not known.
 */
parent: U32Column, 
/**
 * The names of functions, files and programs, each once.
 */
names: Array<string>, 
/**
 * The function that it is in, by the number of its name; [`NO_SITE`] where that is not known.
 */
function: U32Column, 
/**
 * The source file, likewise.
 */
file: U32Column, 
/**
 * The line; 0 where that is not known.
 */
line: U32Column, 
/**
 * The program or library, by the number of its name.
 */
module: U32Column, 
/**
 * Whether call paths are recorded.
 */
has_paths: boolean, };

export type SiteTimes = { 
/**
 * The range, as far as the run goes.
 */
from_ns: number, 
/**
 * Its end.
 */
to_ns: number, 
/**
 * The share of the calls that is counted; 1 when it is all of them. Of very many calls more are counted at each question.
 */
counted_share: number, 
/**
 * The call site; [`NO_SITE`] for calls whose site is not known.
 */
site: U32Column, 
/**
 * What is called there.
 */
function: U32Column, 
/**
 * Rows of calls.
 */
calls: F64Column, 
/**
 * What they sent, or received where they sent nothing.
 */
bytes: F64Column, 
/**
 * Their time in the range.
 */
time_ns: F64Column, };

export type SourceText = { 
/**
 * The file.
 */
file: string, 
/**
 * The number of the first line.
 */
from_line: number, 
/**
 * The lines.
 */
lines: Array<string>, 
/**
 * The file was written after the program was built: its lines may be others.
 */
is_newer: boolean, };

export type RemapFormat = "rankfile" | "machinefile" | "slurm";

export type RemapFile = { 
/**
 * Whose file it is.
 */
format: RemapFormat, 
/**
 * What to call it; the command expects it under this name.
 */
name: string, 
/**
 * What is in it.
 */
text: string, 
/**
 * What starts the job with it.
 */
command: string, };

export type Remap = { 
/**
 * Whether it is better than how ranks are placed. If not, the files have them placed as they are.
 */
gains: boolean, 
/**
 * Messages between nodes as ranks are placed.
 */
inter_messages_before: number, 
/**
 * As they would be.
 */
inter_messages_after: number, 
/**
 * Their bytes as ranks are placed.
 */
inter_bytes_before: number, 
/**
 * As they would be.
 */
inter_bytes_after: number, 
/**
 * Ranks that move to another node.
 */
moved: number, 
/**
 * All ranks.
 */
ranks: number, 
/**
 * Remarks.
 */
sentences: Array<string>, 
/**
 * The files for launchers.
 */
files: Array<RemapFile>, };

export type Event = { 
/**
 * When it begins; null where there is none.
 */
at_ns: number | null, 
/**
 * Who calls; of several at that moment the least.
 */
rank: number, 
/**
 * What is called.
 */
function: number, };

export type Content = { "error": string } | { "calls": Calls } | { "timeline": TimelineBins } | { "count": RangeCounts } | { "history": History } | { "durations": CallDurations } | { "shares": Shares } | { "group_graph": GroupGraph } | { "critical": CriticalPath } | { "budget": RangeBudget } | { "selected": Selected } | { "dag": Dag } | { "cone": Cone } | { "pairs": Pairs } | { "pending": PendingMessages } | { "messages": MessageRows } | { "courses": Courses } | { "criteria": Criteria } | { "rank_metrics": RankMetrics } | { "rank_layout": RankLayout } | { "layouts": Layouts } | { "landscape": Landscape } | { "suggestion": Suggestion } | { "sites": Sites } | { "site_times": SiteTimes } | { "source_text": SourceText } | { "remap": Remap } | { "event": Event };

export type Answer = { 
/**
 * Always `answer`.
 */
kind: AnswerKind, 
/**
 * The number of the question.
 */
id: number, };

export type Annotation = { 
/**
 * Its number.
 */
number: number, 
/**
 * The program that made it.
 */
author: string, 
/**
 * Where it begins.
 */
time_ns: number, 
/**
 * Where it ends, if it is not of one moment.
 */
until_ns: number | null, 
/**
 * Whose; of all ranks where there is none.
 */
rank: number | null, 
/**
 * What it says.
 */
text: string, 
/**
 * As `#rrggbb`.
 */
colour: string | null, 
/**
 * An `http` or `https` address.
 */
link: string | null, };

export type ValueSeries = { 
/**
 * Its name.
 */
name: string, 
/**
 * The program that made it.
 */
author: string, 
/**
 * What values are in.
 */
unit: string, 
/**
 * How many points there are; not all may be here.
 */
points: number, 
/**
 * When.
 */
time_ns: F64Column, 
/**
 * How much.
 */
value: F64Column, };

export type AnnotationsKind = "annotations";

export type Annotations = { 
/**
 * Always `annotations`.
 */
kind: AnnotationsKind, 
/**
 * Notes at times, in the order in which they were made.
 */
annotations: Array<Annotation>, 
/**
 * Values over time.
 */
series: Array<ValueSeries>, };

export type AccessKind = "access";

export type IssuedLink = { 
/**
 * Its number, never used again.
 */
number: number, 
/**
 * Whom it is for.
 */
label: string, 
/**
 * Whether its holder may move the shared clock and pause recording.
 */
can_control: boolean, 
/**
 * Whether its holder may add notes, series, messages and panels.
 */
can_annotate: boolean, 
/**
 * Pages and programs that are connected with it.
 */
connections: number, };

export type NewLink = { 
/**
 * Its number.
 */
number: number, 
/**
 * Its token.
 */
token: string, };

export type Access = { 
/**
 * Always `access`.
 */
kind: AccessKind, 
/**
 * Whether the page was opened with the address that mpiscope printed.
 */
is_owner: boolean, 
/**
 * Whether it may move the shared clock and pause recording.
 */
can_control: boolean, 
/**
 * Whether it may add notes, series, messages and panels.
 */
can_annotate: boolean, 
/**
 * All links that were not revoked. Empty for everybody but the owner, like the fields below.
 */
links: Array<IssuedLink>, 
/**
 * The most links at a time.
 */
links_max: number, 
/**
 * The name of the host that serves the page.
 */
host: string, 
/**
 * The port on that host.
 */
port: number, 
/**
 * The link that this page asked for.
 */
made: NewLink | null, 
/**
 * Why the last request of this page was not carried out; empty where it was.
 */
refused: string, };

export type PanelsKind = "panels";

export type PanelTab = { 
/**
 * Its number, never used again.
 */
number: number, 
/**
 * The name of the tab.
 */
title: string, 
/**
 * The program that made it.
 */
author: string, };

export type Panels = { 
/**
 * Always `panels`.
 */
kind: PanelsKind, 
/**
 * In the order in which they came.
 */
panels: Array<PanelTab>, };

export type PanelMessageKind = "panel_message";

export type PanelMessage = { 
/**
 * Always `panel_message`.
 */
kind: PanelMessageKind, 
/**
 * The number of the panel.
 */
panel: number, 
/**
 * JSON, as the program sent it.
 */
data: string, };
