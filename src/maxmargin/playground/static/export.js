// What can be taken home: the points as CSV, the picture as PNG.

export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The field with its points, as one picture. */
export async function picture(plane) {
  const { canvas, svg } = plane;
  const size = canvas.width, result = document.createElement("canvas");
  result.width = result.height = size;
  const c = result.getContext("2d");
  c.drawImage(canvas, 0, 0);
  const copy = svg.cloneNode(true);
  copy.setAttribute("width", size);
  copy.setAttribute("height", size);
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of ["fill", "stroke", "stroke-width", "opacity", "stroke-dasharray", "visibility"]) {
      node.style.setProperty(name, style.getPropertyValue(name));
    }
  });
  const text = new XMLSerializer().serializeToString(copy);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  c.drawImage(image, 0, 0, size, size);
  return new Promise((resolve) => result.toBlob(resolve, "image/png"));
}
