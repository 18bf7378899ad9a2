// What is done about what was found.

import type { Actions } from "../../state/actions";
import type { Hit } from "../../state/search";
import type { Store } from "../../state/store";

export function takeUp(hit: Hit, isNarrow: boolean, store: Store, actions: Actions): void {
  switch (hit.kind) {
    case "rank":
      store.selection.value = { kind: "rank", rank: hit.rank };
      if (isNarrow) store.select({ ranks: [[hit.rank, hit.rank]] });
      return;
    case "ranks":
    case "node":
      store.select({ ranks: hit.ranks });
      return;
    case "region":
      store.selection.value = { kind: "region", id: hit.id };
      if (isNarrow) store.select({ ranks: hit.ranks });
      else store.tab.value = "where";
      return;
    case "function": {
      const others = new Set([...store.run.peek().functions.keys()].filter((id) => id !== hit.id));
      if (isNarrow) store.select({ hidden: others });
      else void actions.nextEvent(1, others);
      return;
    }
    case "call":
      void actions.goToCall(hit.wanted);
      return;
    case "message":
      void actions.goToSlowest(hit.ranks);
      return;
    case "site":
      store.selection.value = { kind: "site", site: hit.id, place: hit.place };
      return;
    case "time":
      actions.seek(hit.ns);
      return;
    case "view":
      store.tab.value = hit.id;
  }
}

export function meaningOf(hit: Hit | null): string {
  switch (hit?.kind) {
    case "rank":
      return "Enter shows what it is; Shift+Enter narrows all views to it.";
    case "ranks":
    case "node":
      return "Enter narrows all views to these ranks.";
    case "region":
      return "Enter shows it in Regions; Shift+Enter narrows all views to its ranks.";
    case "function":
      return "Enter goes to its next call; Shift+Enter hides all other functions.";
    case "call":
      return "Enter selects it and goes there; of the selected range, where one is selected.";
    case "message":
      return "Enter selects that with the highest latency and goes there; of the selected range, where one is selected.";
    case "site":
      return "Enter shows what was waited for there.";
    case "time":
      return "Enter goes there.";
    case "view":
      return "Enter shows it.";
    case undefined:
      return "";
  }
}
