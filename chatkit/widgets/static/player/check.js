// Check: what the platform would say of what was entered.

const DAY = 86400000;
const two = (n) => String(n).padStart(2, "0");
const iso = (date) => `${String(date.getUTCFullYear()).padStart(4, "0")}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
// A date as YYYY-MM-DD, whether it is written so or, as up to 4.0, in milliseconds; else empty.
const day = (value) => {
  const text = asText(value);
  const time = /^-?\d{6,15}$/.test(text) ? Number(text) : /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : iso(date);
};
const WEEK = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const read = (date) => new Date(date).toLocaleDateString(undefined, { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" });

// Why a day cannot be chosen.
const closed = (date, prop) => {
  const from = day(prop("min-date")), to = day(prop("max-date")), days = list(prop("include-days"));
  if (from && date < from) return `Choose ${read(from)} or later.`;
  if (to && date > to) return `Choose ${read(to)} or earlier.`;
  if (list(prop("unavailable-dates")).some((one) => day(one) === date)) return "This day is not available.";
  if (days.length && !days.includes(WEEK[new Date(date).getUTCDay()])) return "This day of the week is not available.";
  return "";
};

const FORMS = {
  number: [/^[+-]?\d+([.,]\d+)?$/, "Enter a number."],
  email: [/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "Enter an email address."],
  phone: [/^\+?[\d\s().-]{4,}$/, "Enter a phone number."],
  passcode: [/^\d+$/, "Enter digits only."],
};
const PATTERNED = ["text", "number", "password", "passcode"];
// Whether a pattern repeats what itself repeats or branches: to try it may take for ever.
const isEndless = (text) => {
  const groups = [];
  for (const [part] of text.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\)(?:[+*]|\{\d*,)?|\{\d*,|[(+*|]/gsu)) {
    const sign = part[0];
    if (sign === "(") groups.push(false);
    else if (sign === ")" && groups.pop() && part.length > 1) return true;
    else if ("+*|{".includes(sign) || (sign === ")" && part.length > 1)) groups.fill(true);
  }
  return false;
};
// Why a text does not fit a pattern; a pattern that cannot be tried is told as a doubt.
const unfit = (value, text, doubt) => {
  if (text.length > 1000 || isEndless(text)) return doubt(`The pattern ${text.slice(0, 80)} is not tried here: it might never end.`);
  try {
    return !new RegExp(text).test(value.slice(0, 1000));
  } catch {
    return doubt(`The pattern ${text.slice(0, 80)} is not tried here: it cannot be read.`);
  }
};

const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const limit = (prop, name, other) => { const value = prop(name); return isEmpty(value) || !numeric(value) ? other : number(value); };

const TESTS = {
  TextInput: (value, prop, doubt) => {
    const type = prop("input-type") || "text", length = [...value].length;
    const least = limit(prop, "min-chars", 0), most = limit(prop, "max-chars", 80);
    if (length < least) return `Enter at least ${plural(least, "character")}.`;
    if (length > most) return `Enter at most ${plural(most, "character")}.`;
    const form = PATTERNED.includes(type) && prop("pattern");
    if (form && typeof form === "string") return unfit(value, form, doubt) ? asText(prop("helper-text")) || "This is not in the form that is asked for." : "";
    return !Object.hasOwn(FORMS, type) || FORMS[type][0].test(value.trim()) ? "" : FORMS[type][1];
  },
  TextArea: (value, prop) => {
    const most = limit(prop, "max-length", 600);
    return [...value].length > most ? `Enter at most ${plural(most, "character")}.` : "";
  },
  DatePicker: (value, prop) => closed(day(value), prop),
  CalendarPicker: (value, prop) => {
    if (!isMap(value)) return closed(day(value), prop);
    const from = day(value["start-date"]), to = day(value["end-date"]);
    const days = (Date.parse(to) - Date.parse(from)) / DAY + 1;
    const least = limit(prop, "min-days", 1), most = limit(prop, "max-days", Infinity);
    if (days < least) return `Choose at least ${plural(least, "day")}.`;
    if (days > most) return `Choose at most ${plural(most, "day")}.`;
    return closed(from, prop) || closed(to, prop);
  },
};

// How many may be chosen, for the components that take several.
const COUNTS = {
  CheckboxGroup: ["min-selected-items", "max-selected-items", "option"],
  ChipsSelector: ["min-selected-items", "max-selected-items", "option"],
  PhotoPicker: ["min-uploaded-photos", "max-uploaded-photos", "photo"],
  DocumentPicker: ["min-uploaded-documents", "max-uploaded-documents", "document"],
};
const bounds = (node, prop) => {
  const [low, high, noun] = COUNTS[node.type];
  const least = Math.max(limit(prop, low, 0), truth(prop("required")) ? 1 : 0);
  return { least, most: limit(prop, high, noun === "option" ? Infinity : 30), noun };
};

// [kind, text] of what is wrong: "missing" keeps the footer closed, "wrong" is told when it is used.
const check = (node, value, prop, doubt) => {
  if (node.type in COUNTS) {
    const { least, most, noun } = bounds(node, prop), n = list(value).length;
    if (n < least && (n || truth(prop("required")) || noun !== "option")) return ["missing", least === 1 && !n ? "Required." : `Choose at least ${plural(least, noun)}.`];
    if (n > most) return ["wrong", `Choose at most ${plural(most, noun)}.`];
    const large = limit(prop, "max-file-size-kb", 25600);
    return list(value).some((one) => one.size > large * 1024) ? ["wrong", `A file may have at most ${large} KB.`] : ["", ""];
  }
  const half = isMap(value) && (!value["start-date"] || !value["end-date"]);
  if (isEmpty(value) || value === false || (typeof value === "string" && !value.trim()) || half) {
    const asked = prop("required");
    return truth(asked) || half || (isMap(asked) && Object.values(asked).some(truth)) ? ["missing", half ? "Choose both days." : "Required."] : ["", ""];
  }
  const text = TESTS[node.type]?.(value, prop, doubt) ?? "";
  return [text ? "wrong" : "", text];
};
