// How pictures of a graph are made, and what is made of a graph once for all who draw it or tell of it.

import type { Dag } from "../../feed/dag";
import { keptOf } from "../../state/kept";
import type { Context } from "../canvas";
import type { Recipe } from "../painter/recipe";
import { graphOf } from "./graph";
import { Model, paint, type Picture } from "./paint";

export const modelOf = keptOf((dag: Dag) => new Model(graphOf(dag)));

export interface GraphKinds {
  source: Dag;
  scene: Model;
  facts: null;
  picture: Picture;
  summary: void;
  sheets: readonly [Context];
}

export const GRAPHS: Recipe<GraphKinds> = {
  sheets: 1,
  scene: modelOf,
  facts: () => null,
  size: ({ frame: { width, height }, margin }, ratio) => ({
    width: Math.max(1, Math.round((width + 2 * margin) * ratio)), height: Math.max(1, Math.round((height + 2 * margin) * ratio)),
  }),
  paint: ([context], model, picture, ratio) => {
    context.setTransform(ratio, 0, 0, ratio, picture.margin * ratio, picture.margin * ratio);
    return paint(context, model, picture);
  },
};
