// A table that is sorted by its headings and keeps its rows' elements from one frame to the next.

/**
 * `columns` are {key, label, title, sort(row), text(row), part?(row), colour?(row), hint?(row)}; a row is an index
 * into the feed's columns. `part` (0 to 1) draws a bar beside the text, `colour` a mark before it.
 */
export function makeTable(table, columns, first, changed) {
  const order = { key: first.key, descending: first.descending };
  const head = table.createTHead().insertRow();
  const body = table.createTBody();
  for (const column of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    const button = document.createElement("button");
    button.type = "button";
    button.title = column.title;
    button.addEventListener("click", () => {
      order.descending = order.key === column.key ? !order.descending : column.key !== columns[0].key;
      order.key = column.key;
      heads();
      changed();
    });
    cell.append(button);
    head.append(cell);
  }
  function heads() {
    columns.forEach((column, index) => {
      const cell = head.cells[index];
      const sorted = column.key === order.key;
      if (sorted) cell.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      cell.firstChild.textContent = sorted ? `${column.label} ${order.descending ? "\u2193" : "\u2191"}` : column.label;
    });
  }
  heads();
  return {
    /** Row indices in the order that the headings ask for. */
    sorted(rows) {
      const { sort } = columns.find((column) => column.key === order.key);
      const sign = order.descending ? -1 : 1;
      return rows.sort((a, b) => {
        const left = sort(a);
        const right = sort(b);
        return left < right ? -sign : left > right ? sign : a - b;
      });
    },
    /** Shows these rows and no others. */
    draw(rows) {
      while (body.rows.length > rows.length) body.deleteRow(-1);
      while (body.rows.length < rows.length) body.append(makeRow(columns));
      rows.forEach((row, index) => fillRow(body.rows[index], columns, row));
    },
  };
}

function makeRow(columns) {
  const line = document.createElement("tr");
  for (const column of columns) {
    const cell = line.insertCell();
    if (column.colour) {
      cell.className = "name";
      const dot = document.createElement("span");
      dot.className = "dot";
      cell.append(dot);
    }
    if (column.part) {
      cell.className = "share";
      cell.append(document.createElement("i"));
    }
    cell.append(document.createElement("span"));
  }
  return line;
}

function fillRow(line, columns, row) {
  columns.forEach((column, index) => {
    const cell = line.cells[index];
    const words = column.text(row);
    if (cell.lastChild.textContent !== words) cell.lastChild.textContent = words;
    if (column.colour) cell.firstChild.style.backgroundColor = column.colour(row);
    // The bar has the room that the figure beside it leaves.
    if (column.part) cell.firstChild.style.width = `calc((100% - 60px) * ${Math.min(1, column.part(row)).toFixed(4)})`;
    if (column.hint) cell.title = column.hint(row);
  });
}
