// Draws pictures of the rows beside the page's thread, and puts calls in order for both.

import { serve } from "../painter/serve";
import { ROWS } from "./recipe";

serve(ROWS);
