// Markdown: as much of it as the platform shows, made of elements, never of markup.

const INLINE = [
  ["img", /!\[([^\]]*)\]\(([^)\s]*)\)/],
  ["a", /\[([^\]]+)\]\(([^)\s]+)\)/],
  ["strong", /\*\*\*(?=\S)(.+?)\*\*\*(?!\*)/, "em"],
  ["strong", /\*\*(?=\S)(.+?)\*\*(?!\*)/],
  ["strong", /__(?=\S)(.+?)__/],
  ["em", /\*(?=\S)(.+?)\*/],
  ["em", /(?<![\p{L}\p{N}])_(?=\S)(.+?)_(?![\p{L}\p{N}])/u],
  ["s", /~~(.+?)~~/],
];
const ITEM = /^\s*(?:([-+*])|(\d+)[.)])\s+(.*)$/;

// Draw one line: the mark that begins first, what stands in it, and then what comes after it.
const inline = (parent, text) => {
  for (let rest = text; rest; ) {
    const marks = INLINE.map(([tag, form, inner]) => ({ tag, inner, match: form.exec(rest) }));
    const { tag, inner, match } = marks.reduce(
      (first, mark) => (mark.match && !(first.match?.index <= mark.match.index) ? mark : first), {});
    if (!match) return void parent.append(rest);
    parent.append(rest.slice(0, match.index));
    rest = rest.slice(match.index + match[0].length);
    if (tag === "img") {
      const source = picture(match[2]);
      if (source) make(parent, "img", "fp-inline", { src: source, alt: match[1], onerror: missing });
    } else if (tag === "a") {
      inline(outside(parent, match[2]), match[1]);
    } else {
      const made = make(parent, tag);
      inline(inner ? make(made, inner) : made, match[1]);
    }
  }
};

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

// Draw paragraphs, headings, lists and tables into an emptied element.
const markdown = (parent, text) => {
  parent.replaceChildren();
  const lines = text.slice(0, 20000).split("\n").map((line) => line.slice(0, 4096));
  for (let n = 0; n < lines.length; n++) {
    const line = lines[n];
    const heading = /^\s*(#{1,6})\s+(.*)$/.exec(line);
    const item = ITEM.exec(line);
    if (heading) {
      inline(make(parent, "h4", heading[1].length === 1 ? "fp-large-title" : "", AUTO), heading[2]);
    } else if (item) {
      const tag = item[1] ? "ul" : "ol";
      const list = make(parent, tag, "", item[2] && item[2] !== "1" ? { start: item[2].slice(0, 6) } : {});
      for (let next = item; next && Boolean(next[1]) === Boolean(item[1]); next = ITEM.exec(lines[++n] ?? "")) {
        inline(make(list, "li", "", AUTO), next[3]);
      }
      n--;
    } else if (/^\s*\|/.test(line)) {
      const body = make(make(parent, "div", "fp-wide", { tabindex: 0 }), "table");
      const head = /^[\s|:-]+$/.test(lines[n + 1] ?? "");
      for (let row = 0; /^\s*\|/.test(lines[n] ?? ""); n++, row++) {
        if (/^[\s|:-]+$/.test(lines[n])) continue;
        const drawn = make(body, "tr");
        for (const cell of cells(lines[n])) inline(make(drawn, head && !row ? "th" : "td", "", AUTO), cell);
      }
      n--;
    } else if (line.trim()) {
      inline(make(parent, "p", "", AUTO), line.trim());
    }
  }
};
