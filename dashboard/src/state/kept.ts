// What is made of a thing once and kept as long as the thing is there: what a view remembers of a page, what is drawn of
// an answer.

export function keptOf<Thing extends object, Value extends object>(make: (thing: Thing) => Value): (thing: Thing) => Value {
  const all = new WeakMap<Thing, Value>();
  return (thing) => {
    const before = all.get(thing);
    if (before) return before;
    const made = make(thing);
    all.set(thing, made);
    return made;
  };
}
