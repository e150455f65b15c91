// What the colours of many instances mean: a small table in the corner of the picture.

function legend(doc, host) {
  if (!doc.legend) return;
  const box = made("div", host, "legend-box");
  made("b", box, "", doc.legend.title);
  for (const { text, colour } of doc.legend.rows) {
    const row = made("span", box);
    const dot = made("i", row);
    dot.style.background = `rgb(${colour.join(",")})`;
    row.append(text);
  }
}
