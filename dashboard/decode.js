// MessagePack as the feed uses it, and its columns. Bytes in, plain values out; nothing of the page.

const text = new TextDecoder("utf-8", { fatal: true });

/** Reads one message. Throws on anything the feed does not use, rather than showing something untrue. */
export function decode(buffer) {
  const reader = { view: new DataView(buffer), bytes: new Uint8Array(buffer), at: 0 };
  const value = read(reader, 0);
  if (reader.at !== buffer.byteLength) throw new Error("bytes are left over after the message");
  return value;
}

function read(reader, depth) {
  if (depth > 8) throw new Error("the message is nested too deeply");
  const first = take(reader, 1, "getUint8");
  if (first < 0x80) return first;
  if (first < 0x90) return map(reader, first & 15, depth);
  if (first < 0xa0) return array(reader, first & 15, depth);
  if (first < 0xc0) return string(reader, first & 31);
  if (first >= 0xe0) return first - 256;
  switch (first) {
    case 0xc0: return null;
    case 0xc2: return false;
    case 0xc3: return true;
    case 0xc4: return blob(reader, take(reader, 1, "getUint8"));
    case 0xc5: return blob(reader, take(reader, 2, "getUint16"));
    case 0xc6: return blob(reader, take(reader, 4, "getUint32"));
    case 0xca: return take(reader, 4, "getFloat32");
    case 0xcb: return take(reader, 8, "getFloat64");
    case 0xcc: return take(reader, 1, "getUint8");
    case 0xcd: return take(reader, 2, "getUint16");
    case 0xce: return take(reader, 4, "getUint32");
    case 0xcf: return Number(take(reader, 8, "getBigUint64"));
    case 0xd0: return take(reader, 1, "getInt8");
    case 0xd1: return take(reader, 2, "getInt16");
    case 0xd2: return take(reader, 4, "getInt32");
    case 0xd3: return Number(take(reader, 8, "getBigInt64"));
    case 0xd9: return string(reader, take(reader, 1, "getUint8"));
    case 0xda: return string(reader, take(reader, 2, "getUint16"));
    case 0xdb: return string(reader, take(reader, 4, "getUint32"));
    case 0xdc: return array(reader, take(reader, 2, "getUint16"), depth);
    case 0xdd: return array(reader, take(reader, 4, "getUint32"), depth);
    case 0xde: return map(reader, take(reader, 2, "getUint16"), depth);
    case 0xdf: return map(reader, take(reader, 4, "getUint32"), depth);
    default: throw new Error(`the feed does not use the type byte ${first}`);
  }
}

function take(reader, length, getter) {
  const value = reader.view[getter](reader.at);
  reader.at += length;
  return value;
}

function slice(reader, length) {
  const end = reader.at + length;
  if (end > reader.bytes.length) throw new Error("the message is cut off");
  const start = reader.at;
  reader.at = end;
  return [start, end];
}

function string(reader, length) {
  return text.decode(reader.bytes.subarray(...slice(reader, length)));
}

/** A copy, so that a typed array may start at it. */
function blob(reader, length) {
  return reader.view.buffer.slice(...slice(reader, length));
}

function array(reader, length, depth) {
  if (length > reader.bytes.length) throw new Error("an array is longer than its message");
  const values = [];
  for (let index = 0; index < length; index++) values.push(read(reader, depth + 1));
  return values;
}

function map(reader, length, depth) {
  const values = {};
  for (let index = 0; index < length; index++) {
    const key = read(reader, depth + 1);
    values[key] = read(reader, depth + 1);
  }
  // A column names its type once and is the array of it.
  if (values.f64 instanceof ArrayBuffer) return new Float64Array(values.f64);
  if (values.u32 instanceof ArrayBuffer) return new Uint32Array(values.u32);
  return values;
}
