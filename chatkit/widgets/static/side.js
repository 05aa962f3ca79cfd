// Says beside a pane that it goes on at a side, for who sees no bar to scroll it with.
const showMore = (pane, status) => {
  const look = () => {
    const at = Math.abs(pane.scrollLeft), rest = pane.scrollWidth - pane.clientWidth - at;
    const text = at > 2 ? (rest > 2 ? "← more at both sides →" : "← more at the side") : rest > 2 ? "more at the side →" : "";
    if (status.textContent !== text) status.textContent = text;
  };
  const sized = new ResizeObserver(look);
  sized.observe(pane);
  pane.addEventListener("scroll", look);
  look();
  return { look, end: () => sized.disconnect() };
};
