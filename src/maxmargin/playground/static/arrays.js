// Arrays as they travel: base64 of their bytes.

function bytes(text) {
  const raw = atob(text);
  const result = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) result[i] = raw.charCodeAt(i);
  return result;
}

const floats = (text) => new Float32Array(bytes(text).buffer);

/** A field as it was sent, with its arrays unpacked. */
export function unpack(field) {
  if (!field) return null;
  if (field.kind === "regions") {
    return { ...field, winner: bytes(field.winner), cuts: field.cuts.map(floats) };
  }
  return { ...field, f: floats(field.f) };
}
