// Draws pictures of a graph beside the page's thread.

import { serve } from "../painter/serve";
import { GRAPHS } from "./recipe";

serve(GRAPHS);
