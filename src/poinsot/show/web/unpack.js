// The arrays of a document: packed in Python by `compact.py`, unpacked here.

const bytesOf = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));

async function inflated(text, format) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const KINDS = { float32: Float32Array, float64: Float64Array, uint32: Uint32Array, uint8: Uint8Array };

// Byte j of every number lies together with byte j of the others.
function fromPlanes(raw, at, count, size) {
  const out = new Uint8Array(count * size);
  for (let j = 0; j < size; j++) for (let i = 0; i < count; i++) out[i * size + j] = raw[at + j * count + i];
  return out.buffer;
}

// Whole multiples of a step, as second differences over the records: signed by zigzag, exact up to 2^53.
function fromSteps(raw, at, records, columns, step) {
  const n = records * columns;
  const out = new Float64Array(n);
  for (let c = 0, i = 0; c < columns; c++) {
    let value = 0;
    let slope = 0;
    for (let k = 0; k < records; k++, i++) {
      let z = 0;
      let scale = 1;
      for (let j = 0, b = at + i; j < 8; j++, b += n, scale *= 256) z += raw[b] * scale;
      slope += z % 2 ? -(z + 1) / 2 : z / 2;
      value += slope;
      out[i] = value * step;
    }
  }
  return out;
}

const LIVE_RECORDS = 720; // of arrays that a live page is sent record by record: the latest ones

// Arrays with their shape; those over time, (records, ...), are held column by column.
async function unpacked(doc) {
  const raw = await inflated(doc.data, "deflate");
  return doc.arrays.map(a => {
    const count = a.shape.reduce((p, n) => p * n, 1);
    if (a.kind === "moving")
      return { shape: a.shape, records: LIVE_RECORDS, columns: count, values: new Float64Array(LIVE_RECORDS * count) };
    if (a.kind !== "steps")
      return {
        shape: a.shape,
        values: new KINDS[a.kind](fromPlanes(raw, a.at, count, KINDS[a.kind].BYTES_PER_ELEMENT)),
      };
    const records = a.shape[0];
    return {
      shape: a.shape,
      records,
      columns: count / records,
      values: fromSteps(raw, a.at, records, count / records, a.step),
    };
  });
}

// A column of an array over time at the moment {i, u}: between record i and the next one.
function at(array, column, moment) {
  const r = array.records;
  const base = column * r;
  if (r === 1) return array.values[base];
  const a = array.values[base + moment.i];
  return moment.u ? a + moment.u * (array.values[base + moment.i + 1] - a) : a;
}

const vector = (array, k, moment) => [
  at(array, 3 * k, moment),
  at(array, 3 * k + 1, moment),
  at(array, 3 * k + 2, moment),
];

// Quaternions wxyz are continuous in sign over the records.
function rotation(array, k, moment) {
  const q = [0, 1, 2, 3].map(j => at(array, 4 * k + j, moment));
  const f = 1 / Math.hypot(...q);
  return q.map(c => c * f);
}
