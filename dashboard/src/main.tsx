// Puts the page together: the store, the frames, the panels.

import { computed, signal } from "@preact/signals";
import { render } from "preact";
import { Frames } from "./frames";
import { leaveClickedButtons, listenKeys } from "./keys";
import { ComparePage } from "./panels/compare/compare";
import { Header, Notice } from "./panels/header/header";
import { Help } from "./panels/help";
import { Inspector } from "./panels/inspector/inspector";
import { drawOnChange, ParticleHost } from "./panels/stage/particle-host";
import { Scope } from "./panels/scope/scope";
import { Search } from "./panels/search/search";
import { isInspectorShown, Stage, TABS } from "./panels/stage/stage";
import { Timeline } from "./panels/timeline/timeline";
import { Transport } from "./panels/transport/transport";
import { Verdict } from "./panels/verdict/verdict";
import { Actions } from "./state/actions";
import { Looks } from "./state/looks";
import { Store } from "./state/store";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/panels.css";
import "./styles/chart.css";
import "./styles/annotations.css";
import "./styles/share.css";
import "./styles/scope.css";
import "./styles/durations.css";
import "./styles/how.css";
import "./styles/overview.css";
import "./styles/what.css";
import "./styles/why.css";
import "./styles/where.css";
import "./styles/compare.css";
import "./styles/messages.css";
import "./styles/paths.css";
import "./styles/pending.css";
import "./styles/terms.css";

const store = new Store();
const actions = new Actions(store);
const frames = new Frames((nowMs) => store.tick(nowMs));
const particles = new ParticleHost(store, frames);
const looks = new Looks(store);
const help = signal(false);
const find = signal(false);
/** "No news for 3 s" must appear without news, and what failed is tried again. */
const second = signal(0);

/** What is waited for; null when there is something to show. */
const waitingFor = computed(() => {
  const { job } = store.run.value;
  return job.state === "waiting" && job.source === "live" ? job.command : null;
});
const known = computed(() => store.run.value.number >= 0);

/** Two recordings, where that is what is shown. */
const compared = computed(() => store.run.value.compared);

function Page() {
  const command = waitingFor.value;
  const setHelp = (open: boolean) => () => {
    help.value = open;
  };
  if (compared.value) {
    return (
      <>
        <ComparePage store={store} compared={compared.value} second={second} openHelp={setHelp(true)} />
        <Help open={help.value} close={setHelp(false)} isComparison />
      </>
    );
  }
  return (
    <div class="shell">
      <Header store={store} second={second} openHelp={setHelp(true)} />
      <div class="news">
        {command === null && <Verdict store={store} />}
        <Notice store={store} second={second} />
        {command === null && <Scope store={store} looks={looks} find={() => (find.value = true)} />}
      </div>
      {command !== null ? <main class="waiting">{known.value && <Waiting command={command} />}</main> : (
        <>
          <div class={isInspectorShown.value ? "middle" : "middle wide"}>
            <Stage store={store} frames={frames} particles={particles} />
            {isInspectorShown.value && <Inspector store={store} />}
          </div>
          <Timeline store={store} frames={frames} />
          <Transport store={store} actions={actions} />
        </>
      )}
      <Help open={help.value} close={setHelp(false)} />
      <Search store={store} actions={actions} isOpen={find} views={TABS} />
      <div class="pins" id="pins" />
    </div>
  );
}

function Waiting({ command }: { command: string }) {
  return (
    <>
      <h2>{command ? "Waiting for the job" : "No job yet"}</h2>
      <p class="command">{command || "mpiscope run -- mpirun -n 4 ./program"}</p>
      <p>
        {command
          ? "Figures appear when its first rank calls MPI_Init; a program that never does stays invisible here."
          : "This starts one. Figures appear when its first rank calls MPI_Init."}
      </p>
    </>
  );
}

const root = document.getElementById("page");
if (root) render(<Page />, root);
listenKeys(store, actions, looks, { help, find }, () => document.getElementById("pins"));
leaveClickedButtons();
drawOnChange(store, frames);
setInterval(() => {
  second.value++;
  frames.request();
}, 1000);
store.start();
